// Returns the title of a document, or the beginning of a long one.
export default () => document.title.slice(0, 2000);
