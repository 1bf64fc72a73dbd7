// Returns in words what an element is now, if it has neither the name nor the row for which its ref was given, else
// nothing; and when its document began. It does not see words that a style sheet or the browser writes, so a mismatch
// is checked again elsewhere.
import {cut} from "./cut.js";
import {named, quoted} from "./element_name.js";

const MOST_ALIKE = 2000;

// Returns the row of an element that no role marks: the largest part of the page without another such element. Of a
// shadow tree that has none, the host's row counts.
const rowOf = e => {
  const root = e.getRootNode(), all = [...root.querySelectorAll(e.localName)].slice(0, MOST_ALIKE);
  const others = all.filter(other => other.textContent === e.textContent && !other.contains(e) && !e.contains(other));
  let row = e;
  while (row.parentElement && !others.some(other => row.parentElement.contains(other))) row = row.parentElement;
  return row.parentElement || others.length || !root.host ? row : rowOf(root.host);
};
const ROWS = 'tr, li, article, option, [role=row], [role=listitem], [role=article], [role=option], [role=treeitem]';
const closestRow = e => e.closest(ROWS) ?? (e.getRootNode().host && closestRow(e.getRootNode().host));

export const refCheck = (e, {name, row}) => {
  if (!name && !row) return '';
  const flat = text => text.replace(/\s+/g, '').toLowerCase();
  const spaced = text => ` ${text.replace(/\s+/g, ' ').trim().toLowerCase()} `;
  const marks = n => ['aria-label', 'alt', 'title', 'placeholder', 'value'].map(mark => n.getAttribute(mark));
  const said = n => [n.innerText, n.textContent, n.value, ...[n, ...n.querySelectorAll('*')].flatMap(marks)].join(' ');
  const labels = [...e.labels ?? [], ...e.ariaLabelledByElements ?? []].map(said).join(' ');
  if (!flat(`${said(e)} ${labels}`).includes(flat(name))) return `it is ${named(e)}`;
  const [first, ...words] = row.split('\n');
  const around = !row ? null : words.length ? (name || !e.innerText?.trim() ? rowOf(e) : e) : closestRow(e);
  if (!around || [...first ? [first] : [], ...words].some(text => spaced(said(around)).includes(spaced(text)))) return '';
  return `it is in the row of ${quoted(cut((around.innerText || '').trim().split(/[\n\t]/)[0], 60))}`;
};

const look = (e, given) => ({began: performance.timeOrigin, now: refCheck(e, given)});

export default look;
