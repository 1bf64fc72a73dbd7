// Returns where the document in a frame begins, in pixels of the document around the frame.
import {inset} from "./frame_inset.js";

export default e => {
  const {left, top} = e.getBoundingClientRect(), [x, y] = inset(e);
  return [left + x, top + y];
};
