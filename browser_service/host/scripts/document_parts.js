// Reads texts, addresses and parts of a document. Selectors also search open shadow roots, as Playwright's do.
import {plainValue} from "./secret_field.js";
import {seenData, seenText} from "./seen.js";

export const line = text => (text ?? '').replace(/\s+/g, ' ').trim();
export const textOf = (e, hidden) => {
  if (e.nodeType !== 1) return e.nodeType === 3 ? seenData(e) : e.nodeValue ?? '';
  if (e.matches('select')) return [...e.selectedOptions].map(o => o.text).join(', ');
  if (e.matches('textarea, input:not([type=checkbox], [type=radio], [type=file])')) return plainValue(e);
  return seenText(e, hidden);
};
export const absolute = url => { try { return new URL(url, document.baseURI).href } catch { return null } };
export const shown = e => e.checkVisibility({visibilityProperty: true});
export const within = (root, css) => {
  const found = [...root.querySelectorAll(css)];
  if (!shadows) return found;
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) found.push(...within(e.shadowRoot, css));
  if (root.shadowRoot) found.push(...within(root.shadowRoot, css));
  return found;
};
export const IS_TABLE = 'table, [role=table], [role=grid], [role=treegrid]';
const shadows = [...document.querySelectorAll('*')].some(e => e.shadowRoot);
