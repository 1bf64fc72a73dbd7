// Returns where the document in a frame begins, in pixels of the document around the frame, by how much it is drawn
// larger there, and its zoom: [left, top, across, down, zoom].
import {inset} from "./frame_inset.js";

export default e => {
  const {left, top, width, height} = e.getBoundingClientRect(), [x, y] = inset(e);
  const across = width / e.offsetWidth || 1, down = height / e.offsetHeight || 1;
  return [left + x * across, top + y * down, across, down, e.currentCSSZoom ?? 1];
};
