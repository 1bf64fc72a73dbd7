// Returns where an element is in its document: its position, its parent, and its number among the children.
import {named} from "./element_name.js";

export const dragPlace = e => {
  const {x, y} = e.getBoundingClientRect(), up = e.parentElement;
  return {there: e.isConnected, x: Math.round(x + scrollX), y: Math.round(y + scrollY),
    parent: named(up).split(' ')[0], index: up ? [...up.children].indexOf(e) : 0};
};

export default dragPlace;
