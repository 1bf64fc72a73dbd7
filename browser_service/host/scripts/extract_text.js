// Returns the text of elements, trimmed and with its spaces made single where that is asked for.
import {textOf} from "./document_parts.js";
import {ofEach} from "./of_each.js";

export default ofEach((e, {trim, normalize}) => {
  if (!trim && !normalize && !e.matches('select, textarea, input')) return e.textContent;
  const text = normalize ? textOf(e).replace(/\s+/g, ' ') : textOf(e);
  return trim ? text.trim() : text;
});
