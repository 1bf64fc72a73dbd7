// Returns how far the document in a frame begins from the frame's corner, in px: [left, top].
export const inset = frame => {
  const style = getComputedStyle(frame);
  return [frame.clientLeft + parseFloat(style.paddingLeft), frame.clientTop + parseFloat(style.paddingTop)];
};
export default inset;
