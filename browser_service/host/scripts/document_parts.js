// Reads texts, addresses and parts of a document. Selectors also search open shadow roots, as Playwright's do.
import {documentHasShadows} from "./flat_tree.js";
import {plainValue} from "./secret_field.js";
import {seenData, seenText} from "./seen.js";

export const line = text => (text ?? '').replace(/\s+/g, ' ').trim();
export const textOf = (e, hidden) => {
  if (e.nodeType !== 1) return e.nodeType === 3 ? seenData(e) : e.nodeValue ?? '';
  if (e.matches('select')) return [...e.selectedOptions].map(o => o.text).join(', ');
  if (e.matches('textarea, input:not([type=checkbox], [type=radio], [type=file])')) return plainValue(e);
  return seenText(e, hidden);
};
// Returns the text of a table's cell, with what its fields and pictures show.
const SHOWING = 'input:not([type=hidden], [type=file]), select, textarea, img[alt], [role=checkbox], [role=switch], [role=radio]';
const shows = e => {
  const ticked = e.matches('[type=checkbox], [type=radio]') ? e.checked : e.ariaChecked === 'true';
  if (e.matches('[type=checkbox], [type=radio], [role]')) return ticked ? 'checked' : 'not checked';
  return e.localName === 'img' ? e.alt : textOf(e);
};
export const cellText = cell =>
  seenText(cell, false, new Map([...cell.querySelectorAll(SHOWING)].filter(shown).map(e => [e, shows(e)])));
export const absolute = url => { try { return new URL(url, document.baseURI).href } catch { return null } };
export const shown = e => e.checkVisibility({visibilityProperty: true});
export const within = (root, css) => {
  const found = [...root.querySelectorAll(css)];
  if (!documentHasShadows()) return found;
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) found.push(...within(e.shadowRoot, css));
  if (root.shadowRoot) found.push(...within(root.shadowRoot, css));
  return found;
};
export const IS_TABLE = 'table, [role=table], [role=grid], [role=treegrid]';
