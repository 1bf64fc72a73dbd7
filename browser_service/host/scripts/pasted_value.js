// Returns what an element has after a paste, and what field it is.
import {field} from "./field.js";

export default e => ({
  value: e.type === 'password' ? null : String(e.value ?? e.innerText ?? ''),
  field: e.matches('input, textarea') || e.isContentEditable ? field(e) : null,
});
