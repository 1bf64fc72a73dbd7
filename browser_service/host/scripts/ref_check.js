// Returns in words what an element is now, if it has neither the name nor the row for which its ref was given, else
// nothing; and when its document began. It does not see words that a style sheet or the browser writes, so a mismatch
// is checked again elsewhere.
import {cut} from "./cut.js";
import {named, quoted} from "./element_name.js";

const MOST_ALIKE = 2000;

// Returns the row of an element that no role marks: the largest part of the page without another such element.
const rowOf = e => {
  const all = [...e.getRootNode().querySelectorAll(e.localName)].slice(0, MOST_ALIKE);
  const others = all.filter(other => other !== e && other.textContent === e.textContent);
  let row = e;
  while (row.parentElement && !others.some(other => row.parentElement.contains(other))) row = row.parentElement;
  return row;
};

export const refCheck = (e, {name, row}) => {
  if (!name && !row) return '';
  const flat = text => text.replace(/\s+/g, '').toLowerCase();
  const spaced = text => ` ${text.replace(/\s+/g, ' ').trim().toLowerCase()} `;
  const marks = n => ['aria-label', 'alt', 'title', 'placeholder', 'value'].map(mark => n.getAttribute(mark));
  const said = n => [n.innerText, n.textContent, n.value, ...[n, ...n.querySelectorAll('*')].flatMap(marks)].join(' ');
  const labels = [...e.labels ?? [], ...e.ariaLabelledByElements ?? []].map(said).join(' ');
  if (!flat(`${said(e)} ${labels}`).includes(flat(name))) return `it is ${named(e)}`;
  const [first, ...words] = row.split('\n');
  const around = !row ? null : words.length ? (name ? rowOf(e) : e) : e.closest('tr, li, article, option, ' +
    ['row', 'listitem', 'article', 'option', 'treeitem'].map(role => `[role=${role}]`).join());
  if (!around || [...first ? [first] : [], ...words].some(text => spaced(said(around)).includes(spaced(text)))) return '';
  return `it is in the row of ${quoted(cut((around.innerText || '').trim().split(/[\n\t]/)[0], 60))}`;
};

const look = (e, given) => ({began: performance.timeOrigin, now: refCheck(e, given)});

export default look;
