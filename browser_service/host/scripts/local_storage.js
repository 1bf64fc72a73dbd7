// Fills the local storage of a document.
export default items => { for (const {name, value} of items) localStorage.setItem(name, value); };
