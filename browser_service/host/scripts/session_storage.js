// Fills the session storage of a page's own document, if it has the origin of the items.
export default (origin, items) => {
  if (self === top && location.origin === origin) {
    for (const [name, value] of items) sessionStorage.setItem(name, value);
  }
};
