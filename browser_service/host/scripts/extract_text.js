// Returns the text of elements, on request trimmed and with single spaces.
import {textOf} from "./document_parts.js";
import {ofEach} from "./of_each.js";
import {withoutSecrets} from "./secret_field.js";
import {asSeen} from "./seen.js";

export default asSeen(ofEach((e, {trim, normalize, alone}) => {
  if (!trim && !normalize && !e.matches('select, textarea, input')) return withoutSecrets(e.textContent, e);
  const text = normalize ? textOf(e, alone).replace(/\s+/g, ' ') : textOf(e, alone);
  return trim ? text.trim() : text;
}));
