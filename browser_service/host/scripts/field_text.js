// Returns in words what a field has; of a password only how long it is.
import {cut} from "./cut.js";
import {quoted} from "./element_name.js";

export const shows = (e, most) => {
  if (e.type === 'password') return `${e.value.length} characters`;
  const ticks = '[type=checkbox], [type=radio], [role=checkbox], [role=radio], [role=switch]';
  if (e.matches(ticks)) return (e.checked ?? e.ariaChecked === 'true') ? 'checked' : 'not checked';
  const text = e.selectedOptions ? [...e.selectedOptions].map(o => o.label).join(', ') : e.value ?? e.innerText ?? '';
  return text.length > most ? `${quoted(cut(text, most) + '…')} (${text.length} characters)` : quoted(text);
};
