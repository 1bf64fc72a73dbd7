// Makes an engine for selectors that finds the root of a document if the document is of an origin. One that is sandboxed is
// of none, whatever its address is.
export default () => ({
  queryAll: (root, origin) => self.origin === decodeURIComponent(origin) ? [document.documentElement] : [],
});
