// Returns in words what a field has; of a secret, only its length.
import {cut} from "./cut.js";
import {quoted} from "./element_name.js";
import {isSecret, textOfField} from "./secret_field.js";

export const shows = (e, most) => {
  const ticks = '[type=checkbox], [type=radio], [role=checkbox], [role=radio], [role=switch]';
  if (e.matches(ticks)) return (e.checked ?? e.ariaChecked === 'true') ? 'checked' : 'not checked';
  const moved = e.matches('[role=slider]:not(input)') && e.getAttribute('aria-valuenow');
  const text = moved ? moved : e.selectedOptions ? [...e.selectedOptions].map(o => o.label).join(', ') : textOfField(e);
  if (!e.selectedOptions && isSecret(e)) return `${text.length} characters`;
  return text.length > most ? `${quoted(cut(text, most) + '…')} (${text.length} characters)` : quoted(text);
};
