// Returns what a field has after it was filled, and where the page put the focus.
import {field} from "./field.js";
import {named} from "./element_name.js";
import {isSecret, textOfField} from "./secret_field.js";

export default e => {
  const active = e.getRootNode().activeElement, within = !active || e.contains(active) || active.matches('body');
  const focus = within ? '' : named(active);
  return {value: textOfField(e), secret: isSecret(e), type: String(e.type), focus, field: field(e)};
};
