// Fills the local storage of a document, and returns the items that this replaced.
export default items => {
  const old = items.map(({name}) => ({name, value: localStorage.getItem(name)}));
  for (const {name, value} of items) localStorage.setItem(name, value);
  return old.filter(({value}, at) => value !== null && value !== items[at].value);
};
