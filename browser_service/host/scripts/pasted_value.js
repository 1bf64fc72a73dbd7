// Returns an element's value after a paste, and which field it is.
import {field} from "./field.js";
import {isSecret, textOfField} from "./secret_field.js";

export default e => ({
  value: isSecret(e) ? null : textOfField(e),
  field: e.matches('input, textarea') || e.isContentEditable ? field(e) : null,
});
