// Turns a function of an element into one that returns its result after an act, as a list, once the page's scripts have
// had a turn. The list is empty if the element is gone.
import {control} from "./control.js";

export default look => async found => {
  await new Promise(turn => setTimeout(turn));
  return found.slice(0, 1).filter(e => e.isConnected).map(control).map(look);
};
