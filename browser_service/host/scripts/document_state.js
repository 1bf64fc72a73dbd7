// Returns facts about the document, in this order: when it began, a mark that changes with anything in it, the focused
// element's number, its title, how many parts say that they are loading, what was typed into secret fields, the
// invisible texts and the announced ones (both only if the mark is not `known`), how many elements it has, whether its
// middle can be scrolled (1) or is scrolled (2) (only if the mark is `known`), and what no tree describes, with the
// number of tools that the page declares. A mark costs a tenth of a tree.
import {beyondTree} from "./beyond_tree.js";
import {cut} from "./cut.js";
import {toolCount} from "./tool_count.js";
import {parentElement} from "./past_names.js";
import {typedIn} from "./secret_field.js";
import {appears, reading} from "./seen.js";
import {seenText} from "./seen_text.js";
import {unseenWords} from "./unseen_words.js";

const ANNOUNCED = '[role=status], [role=alert], output:not([role])', MOST_ANNOUNCED = 20;

export const ROLLS = 9;  // index of the scroll state in the result
export const rolls = () => {
  let found = 0;
  for (let e = document.elementFromPoint(innerWidth / 2, innerHeight / 2); e; e = parentElement(e)) {
    if (e.scrollTop) return 2;
    if (e.scrollHeight > e.clientHeight && e.clientHeight) found = 1;
  }
  return found;
};

export const documentState = async ([turns, titleCharacters, known]) => {
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
  const unseen = mark === known ? null : unseenWords(document);
  if (turns && unseen && await appears()) return documentState([0, titleCharacters, known]);
  reading.judged = true;
  const announced = mark === known ? null : [...document.querySelectorAll(ANNOUNCED)].slice(0, MOST_ANNOUNCED)
    .filter(e => e.checkVisibility({visibilityProperty: true}))
    .map(e => [e.getAttribute('role') || 'status', cut(seenText(e).replace(/\s+/g, ' ').trim(), 160)]);
  return [performance.timeOrigin, mark, focus, title, busy, typed, unseen, announced, all.length,
    mark === known ? rolls() : 0, {...beyondTree(document), tools: await toolCount()}];
};

export default documentState;
