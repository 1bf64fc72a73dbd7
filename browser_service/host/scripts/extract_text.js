// Returns the text of elements, on request trimmed and with single spaces.
import {textOf, textWithFields} from "./document_parts.js";
import {ofEach} from "./of_each.js";
import {withoutSecrets} from "./secret_field.js";
import {asSeen} from "./seen.js";

export default asSeen(ofEach((e, {trim, normalize, alone}) => {
  const isField = e.matches('select, textarea, input');
  if (!trim && !normalize && !isField) return withoutSecrets(e.textContent, e);
  const text = isField && textOf(e) || textWithFields(e, [], alone), given = normalize ? text.replace(/\s+/g, ' ') : text;
  return trim ? given.trim() : given;
}));
