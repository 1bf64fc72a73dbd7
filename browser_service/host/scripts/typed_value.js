// Returns what a field has after it was filled, whether an editor keeps its text elsewhere, whether its list is open, and
// where the page moved the focus.
import {isEditor} from "./editor.js";
import {field} from "./field.js";
import {named} from "./element_name.js";
import {isSecret, textOfField} from "./secret_field.js";

export default e => {
  const active = e.getRootNode().activeElement, around = active?.matches('body') || active?.isContentEditable && active.contains(e);
  const within = !active || e.contains(active) || around;
  const focus = within ? '' : named(active);
  const lists = ['listbox', 'true'].includes(e.getAttribute('aria-haspopup') || 'listbox');
  const opened = lists && e.getAttribute('aria-expanded') === 'true';
  const most = Number(e.maxLength ?? -1), editor = isEditor(e);
  return {value: textOfField(e), secret: isSecret(e), type: String(e.type), most, editor, opened, focus, field: field(e)};
};
