// Returns the point within its frame at which the mouse clicks an element: a given point of it, or its middle.
import {control} from "./control.js";

export const clickPoint = (e, [point, ticks]) => {
  const clicked = ticks ? control(e) : e;
  const {left, top} = clicked.getBoundingClientRect();
  if (point) return [left + clicked.clientLeft + point.x, top + clicked.clientTop + point.y];
  const box = [...clicked.getClientRects()].find(rect => rect.width * rect.height > 0.99) || clicked.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
};

export default clickPoint;
