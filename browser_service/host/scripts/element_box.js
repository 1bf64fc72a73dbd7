// Returns where the first of these elements is in the window. Null where there is none that is drawn, or it is in a
// frame, which does not know where it is itself.
export default (found) => {
  if (!found.length || window !== top) return null;
  const {x, y, width, height} = found[0].getBoundingClientRect();
  return width && height ? {x, y, width, height} : null;
};
