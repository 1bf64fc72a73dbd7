// Returns of the document when it began, a mark that differs when anything in it does, where its focus is, its title,
// how many parts of it say that they are loading, what was typed into fields for secrets, what nobody sees of it, and what
// it announces, both unless the mark is the known one, how many elements it has, whether what is in its middle can be
// scrolled (1) or is (2), if the mark is the known one, and what no tree has of it. A mark costs a tenth of the tree.
import {beyondTree} from "./beyond_tree.js";
import {cut} from "./cut.js";
import {parentElement} from "./past_names.js";
import {typedIn} from "./secret_field.js";
import {appears, reading, seenText} from "./seen.js";
import {unseenWords} from "./unseen_words.js";

const ANNOUNCED = '[role=status], [role=alert], output:not([role])', MOST_ANNOUNCED = 20;

export const ROLLS = 9;  // its place in what the state has
export const rolls = () => {
  let found = 0;
  for (let e = document.elementFromPoint(innerWidth / 2, innerHeight / 2); e; e = parentElement(e)) {
    if (e.scrollTop) return 2;
    if (e.scrollHeight > e.clientHeight && e.clientHeight) found = 1;
  }
  return found;
};

export const documentState = async ([turns, titleCharacters, mode, known]) => {
  const {port1, port2} = new MessageChannel();
  for (let turn = 0; turn < turns; turn++) await new Promise(then => { port1.onmessage = then; port2.postMessage(0); });
  const parts = [], typed = [[], []];
  const read = root => {
    parts.push(root.documentElement?.outerHTML ?? root.innerHTML);
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) read(e.shadowRoot);
    for (const e of root.querySelectorAll('input, textarea, option')) parts.push(e.value, e.checked, e.selected);
    typedIn(root, typed);
  };
  read(document);
  const all = [...document.querySelectorAll('*')], shown = document.querySelectorAll(':popover-open, :modal, :target');
  for (const e of shown) parts.push(all.indexOf(e));
  const focus = all.indexOf(document.activeElement);
  const text = parts.join('|');
  let mark = text.length;
  for (let i = 0; i < text.length; i++) mark = Math.imul(mark ^ text.charCodeAt(i), 16777619);
  const busy = [...document.querySelectorAll('[aria-busy=true], [role=progressbar]:not([aria-valuenow]), '
    + 'progress:not([value])')].slice(0, 99).filter(e => e.checkVisibility({visibilityProperty: true})).length;
  const title = cut(String(document.title), titleCharacters);
  const unseen = mode === 'keep' || mark === known ? null : unseenWords(document);
  if (turns && unseen && await appears()) return documentState([0, titleCharacters, mode, known]);
  reading.mode = mode;
  const announced = mark === known ? null : [...document.querySelectorAll(ANNOUNCED)].slice(0, MOST_ANNOUNCED)
    .filter(e => e.checkVisibility({visibilityProperty: true}))
    .map(e => [e.getAttribute('role') || 'status', cut(seenText(e).replace(/\s+/g, ' ').trim(), 160)]);
  return [performance.timeOrigin, mark, focus, title, busy, typed, unseen, announced, all.length,
    mark === known ? rolls() : 0, beyondTree(document)];
};

export default documentState;
