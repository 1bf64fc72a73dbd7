// Returns in words what an element is by now, where neither its name nor its row is what its ref was given for; else
// nothing; and when its document began. Words that a style sheet or the browser writes are not found here: who is told otherwise looks again.
import {cut} from "./cut.js";
import {named, quoted} from "./element_name.js";

export const refCheck = (e, {name, row}) => {
  if (!name && !row) return '';
  const flat = text => text.replace(/\s+/g, '').toLowerCase();
  const spaced = text => ` ${text.replace(/\s+/g, ' ').trim().toLowerCase()} `;
  const marks = n => ['aria-label', 'alt', 'title', 'placeholder', 'value'].map(mark => n.getAttribute(mark));
  const said = n => [n.innerText, n.textContent, n.value, ...[n, ...n.querySelectorAll('*')].flatMap(marks)].join(' ');
  const labels = [...e.labels ?? [], ...e.ariaLabelledByElements ?? []].map(said).join(' ');
  if (!flat(`${said(e)} ${labels}`).includes(flat(name))) return `it is ${named(e)}`;
  const around = row && e.closest('tr, li, article, option, ' +
    ['row', 'listitem', 'article', 'option', 'treeitem'].map(role => `[role=${role}]`).join());
  if (!around || spaced(said(around)).includes(spaced(row))) return '';
  return `it is in the row of ${quoted(cut((around.innerText || '').trim().split(/[\n\t]/)[0], 60))}`;
};

const look = (e, given) => ({began: performance.timeOrigin, now: refCheck(e, given)});

export default look;
