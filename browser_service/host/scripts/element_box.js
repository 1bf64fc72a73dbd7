// Returns the first element's box in the window; null if none is drawn, or in a frame, which does not know its own
// position.
export default (found) => {
  if (!found.length || window !== top) return null;
  const {x, y, width, height} = found[0].getBoundingClientRect();
  return width && height ? {x, y, width, height} : null;
};
