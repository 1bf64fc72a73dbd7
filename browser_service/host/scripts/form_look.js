// Returns what each field of a form is and has: at once if `ms` is null, else once the page's scripts have had their
// turn, and its workers `ms` milliseconds. Throws if the fields are in several documents.
import {boxCount} from "./code_box.js";
import {field} from "./field.js";
import {isEditor} from "./editor.js";
import {formControl} from "./form_control.js";
import {shows} from "./field_text.js";
import {isSecret, textOfField} from "./secret_field.js";
import {settled} from "./field_watch.js";

const look = (found, most) => found.map(formControl).map(c => {
  const type = c.matches('input') ? c.type : c.getAttribute('role');
  const kinds = {checkbox: 'tick', switch: 'tick', radio: 'radio', slider: 'slider', combobox: 'combobox', file: 'file',
    button: 'button', submit: 'button', reset: 'button', image: 'button'};
  const kind = c.matches('select') ? 'select' : isEditor(c) ? 'editor' : kinds[type] || kinds[c.role === 'combobox' && c.role]
    || (c.ariaHasPopup === 'listbox' ? 'combobox' : c.matches('button') ? 'button' : 'text');
  const chosen = [...c.selectedOptions || []];
  return {
    kind,
    type: c.readOnly || kind === 'combobox' && c.inputMode === 'none' ? 'read-only' : c.type || (kind === 'slider' ? kind : ''),
    boxes: boxCount(c), most: Number(c.maxLength ?? -1),
    names: [c.value, c.getAttribute('aria-label'), ...[...c.labels || []].map(l => l.textContent.trim())]
      .filter(name => name),
    value: kind === 'select' ? chosen.map(o => o.value) : kind === 'slider' ? c.getAttribute('aria-valuenow') ?? '' : textOfField(c),
    labels: chosen.map(o => o.label),
    checked: c.checked ?? c.getAttribute('aria-checked') === 'true',
    secret: kind === 'text' && isSecret(c),
    shows: shows(c, most),
    there: c.isConnected,
    field: c.isConnected && ['text', 'select', 'tick', 'radio'].includes(kind) ? field(c) : null,
  };
});

export default (found, [ms, most]) => {
  if (found.some(e => e.ownerDocument !== document)) throw new Error('of another document');
  const there = () => found.map(formControl).filter(c => c.isConnected);
  return ms === null ? look(found, most) : settled(there, ms, c => shows(c, most)).then(() => look(found, most));
};
