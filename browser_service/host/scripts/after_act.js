// Makes of a function of an element one that returns what it gives after an act, in a list, once the page's scripts had
// a turn; an empty list where the element went.
import {control} from "./control.js";

export default look => async found => {
  await new Promise(turn => setTimeout(turn));
  return found.slice(0, 1).filter(e => e.isConnected).map(control).map(look);
};
