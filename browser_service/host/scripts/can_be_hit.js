// Returns whether the mouse would hit an element at a given point of it, or at its middle, where it is now. Of an element in
// a frame only the documents around it could tell.
import {clickPoint} from "./click_point.js";
import {elementAt} from "./element_at.js";
import {around} from "./past_names.js";

export default (e, point) => {
  const at = clickPoint(e, [point, false]);
  let hit = window === top ? elementAt(at) : null;
  while (hit && hit !== e) hit = around(hit);
  return hit === e;
};
