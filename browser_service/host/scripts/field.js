// Returns what a field is and has, with a selector that finds it again after its document is gone and with it the refs.
import {cssPath} from "./css_path.js";
import {cut} from "./cut.js";
import {lasting} from "./lasting.js";
import {isSecret} from "./secret_field.js";

const MOST_TWINS = 4;

// Returns, by label, which of several options with the same label are selected.
const twins = e => Object.fromEntries([...e.selectedOptions || []].slice(0, MOST_TWINS).flatMap(chosen => {
  const told = o => `value ${JSON.stringify(cut(o.value, 60))}${o.parentElement.label ? ` of ${JSON.stringify(cut(o.parentElement.label, 60))}` : ''}`;
  const others = [...e.options].filter(o => o !== chosen && o.label === chosen.label).slice(0, MOST_TWINS);
  return others.length ? [[chosen.label, `${told(chosen)}, and not ${others.map(told).join(' or ')}`]] : [];
}));

export const field = e => {
  const tag = e.localName, ticks = ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio'];
  const label = e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.placeholder || e.name || e.id || tag;
  const secret = isSecret(e);
  const ticked = ticks.includes(e.getAttribute('role')) || (tag === 'input' && ticks.includes(e.type));
  const kind = tag === 'select' ? 'select' : ticked ? 'tick' : 'text';
  let frame = null;
  if (window !== top) {
    frame = '';
    try {
      if (parent === top) frame = cssPath(frameElement, frameElement.getRootNode());
    } catch { frame = ''; }
  }
  const checked = e.checked ?? e.getAttribute('aria-checked') === 'true';
  const chosen = [...e.selectedOptions || []], selected = chosen.map(o => o.value), labels = chosen.map(o => o.label);
  const value = kind === 'tick' ? checked : kind === 'select' ? selected : e.value ?? e.innerText;
  const name = cut(label.trim().replace(/\s+/g, ' '), 60);
  const found = cssPath(e, e.getRootNode());
  return {selector: found, frame, kind, secret, name, checked, selected, labels, value: secret ? null : value,
    twins: twins(e), lasting: lasting(e)};
};

export default field;
