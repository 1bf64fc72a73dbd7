// Returns where the document in a frame begins, in pixels of the document around the frame.
export default e => {
  const {left, top} = e.getBoundingClientRect(), style = getComputedStyle(e);
  return [left + e.clientLeft + parseFloat(style.paddingLeft), top + e.clientTop + parseFloat(style.paddingTop)];
};
