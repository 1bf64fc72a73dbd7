// Returns the text that some boxes of one character each have together, from the given box on, alone in a list; an empty
// list if they are none.
import {boxesFrom} from "./code_box.js";

export default (given, count) => {
  const boxes = boxesFrom(given, count);
  return boxes.length ? [boxes.map(box => box.value).join('')] : [];
};
