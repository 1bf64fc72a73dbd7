// Fills the session storage of a page's own document, where it is of the origin that the items are of.
export default (origin, items) => {
  if (self === top && location.origin === origin) {
    for (const [name, value] of items) sessionStorage.setItem(name, value);
  }
};
