// Makes of a function of a field one that returns what it gives after an act, and what the field shows then in words,
// once the page's scripts had their turn and the field has stayed so for some milliseconds.
import {control} from "./control.js";
import {settled} from "./field_watch.js";
import {shows} from "./field_text.js";

export default look => async (found, [ms, most]) => {
  const fields = () => found.slice(0, 1).filter(e => e.isConnected).map(control), words = e => shows(e, most);
  await settled(fields, ms, words);
  return fields().map(e => ({value: look(e), shows: words(e)}));
};
