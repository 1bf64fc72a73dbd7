// Reads texts, addresses and parts of a document. Selectors also search open shadow roots, as Playwright's do.
import {documentHasShadows} from "./flat_tree.js";
import {labelsOf} from "./labels.js";
import {allIn, matches, parentOf} from "./past_names.js";
import {plainValue} from "./secret_field.js";
import {unseenElement} from "./seen.js";
import {seenData, seenText} from "./seen_text.js";

const LEAST_BOX_PX = 4;

export const line = text => (text ?? '').replace(/\s+/g, ' ').trim();
export const textOf = (e, hidden) => {
  if (e.nodeType !== 1) return e.nodeType === 3 ? seenData(e) : e.nodeValue ?? '';
  if (e.matches('select')) return [...e.selectedOptions].map(o => o.text).join(', ');
  if (e.matches('textarea, input:not([type=checkbox], [type=radio], [type=file])')) return plainValue(e);
  return seenText(e, hidden);
};
export const shown = e => e.checkVisibility({visibilityProperty: true});
// Returns whether a person sees a field, or what stands for its box: a label, or what is drawn around a faint one.
const TICKED = '[type=checkbox], [type=radio], [role=checkbox], [role=radio], [role=switch], [role=gridcell][aria-checked]';
const seenBox = (e, why) => why === 'faint' && e.clientWidth > LEAST_BOX_PX && !unseenElement(parentOf(e)) || labelsOf(e).some(label => !unseenElement(label));
const seenField = e => {
  const why = shown(e) ? unseenElement(e) : 'hidden';
  return !why || why !== 'hidden' && matches(e, TICKED) && seenBox(e, why);
};
// Returns what a field shows: its state or value, without a secret; '' for what is no field that a person sees.
export const FIELDS = `input:not([type=hidden], [type=file]), select, textarea, ${TICKED}`;
export const fieldWords = e => {
  if (!matches(e, FIELDS) || !seenField(e)) return '';
  if (e.localName === 'select' && (e.multiple || e.size > 1))
    return [...e.options].map(o => o.selected ? `${o.text} (chosen)` : o.text).join(', ');
  if (!matches(e, TICKED)) return textOf(e);
  return e.checked ?? e.ariaChecked === 'true' ? 'checked' : 'not checked';
};
// Returns the text of an element with what the fields in it show, and the other elements that have `words`.
export const textWithFields = (e, words = [], hidden = false) => matches(e, 'input, select, textarea') ? fieldWords(e)
  : seenText(e, hidden, new Map([...words, ...within(e, FIELDS).map(field => [field, fieldWords(field)])]));
// Returns the text of a table's cell, with what its fields and pictures show.
export const cellText = cell => matches(cell, TICKED) && fieldWords(cell)
  || textWithFields(cell, [...cell.querySelectorAll('img[alt]')].filter(shown).map(e => [e, e.alt]));
export const absolute = url => { try { return new URL(url, document.baseURI).href } catch { return null } };
export const within = (root, css) => {
  const found = [...root instanceof Element ? allIn(root, css) : root.querySelectorAll(css)];
  if (!documentHasShadows()) return found;
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) found.push(...within(e.shadowRoot, css));
  if (root.shadowRoot) found.push(...within(root.shadowRoot, css));
  return found;
};
export const IS_TABLE = 'table, [role=table], [role=grid], [role=treegrid]';
