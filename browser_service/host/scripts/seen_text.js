// Reads the text of elements as a person sees it.
import {flatTree, hasShadows} from "./flat_tree.js";
import {closest, matches, parentElement, parentOf} from "./past_names.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {MOST_TEXTS, UNDRAWN, blockOf, drawn, inUndrawn, keepsBlanks, lacksInInnerText, placeOf, reading, skipped, texts, unseen} from "./seen.js";

// Not among them: the blanks that no line is broken at, which editors indent with.
export const collapsed = text => text.replace(/[ \t\n\r\f]+/g, ' ');
const segmenter = new Intl.Segmenter(undefined, {granularity: 'word'});
const CASED = {
  uppercase: text => text.toUpperCase(), lowercase: text => text.toLowerCase(),
  capitalize: text => [...segmenter.segment(text)].map(({segment}) => segment.replace(/\p{L}/u, first => first.toUpperCase())).join(''),
};
const cased = (text, {textTransform}) => CASED[textTransform]?.(text) ?? text;
const STANDS_FOR_ALL = 'select, textarea';
// Returns what stands between the words of two blocks, as innerText has it: cells of a row are in their columns, though
// some have no words. `outer` is the cell in which all of it is.
const between = (last, block, outer) => {
  const cell = closest(block, 'td, th'), before = last && closest(last, 'td, th');
  if (!cell || cell === before || cell === outer) return !last ? '' : block.localName === 'p' || last.localName === 'p' ? '\n\n' : '\n';
  const inRow = before && parentElement(before) === parentElement(cell);
  return (last && !inRow ? '\n' : '') + '\t'.repeat(Math.max(0, cell.cellIndex - (inRow ? before.cellIndex : 0)));
};
const rebuilt = (root, instead) => {
  const written = [], outer = root instanceof Element ? closest(root, 'td, th') : null;
  let last = null, isBlank = true;
  const write = (text, keeps) => {
    const put = isBlank && !keeps ? text.replace(/^ +/, '') : text;
    if (!put) return;
    written.push(put);
    isBlank = /\s/.test(put.at(-1));
  };
  for (const node of flatTree(root, e => instead.has(e) && matches(e, STANDS_FOR_ALL))) {
    const out = instead.get(node), isText = node.nodeType === Node.TEXT_NODE;
    if (node.localName === 'br') write('\n');
    if (out === '' || !out && !(isText && drawn(node))) continue;
    const parent = isText ? parentOf(node) : node, block = blockOf(parent);
    if (block !== last) write(between(last, block, outer));
    const keeps = keepsBlanks(parent);
    if (out) write(isText ? out : ` ${out} `);
    else write(cased(keeps ? node.data : collapsed(node.data), placeOf(parent).style), keeps);
    last = block;
  }
  return written.join('').replace(/ +([\n\t])/g, '$1').replace(/\n{3,}/g, '\n\n').replace(/^\n+/, '').trimEnd();
};
// Returns the text of an element as a person sees it, without secrets and unseen texts, which it counts. With `hidden`,
// an element that is marked as hidden gives all of its text. `words` are those of elements that have no text.
export const seenText = (e, hidden, words = new Map()) => {
  const whole = e.innerText ?? e.textContent, deep = hasShadows(e);
  const all = deep ? [...flatTree(e)].filter(node => node.nodeType === Node.TEXT_NODE).slice(0, MOST_TEXTS) : [...texts(e)];
  const cut = deep || words.size > 0 || all.some(lacksInInnerText);
  if (!cut && (!whole || !whole.trim()) || e instanceof Element && closest(e, UNDRAWN)) return whole;
  const secrets = secretsIn(e), toAll = hidden && !e.checkVisibility?.({visibilityProperty: true});
  if (!secrets.length && !cut && (!reading.judged || toAll)) return whole;
  const ofAll = !e.checkVisibility?.() && !all.some(drawn), instead = new Map(words), found = new Set();
  for (const text of all) {
    const secret = (deep ? secretsIn(text) : secrets).find(field => field.contains(text)), judged = reading.judged && !toAll && !secret;
    const why = !judged || inUndrawn(text) ? '' : unseen(text);
    if (secret) {
      instead.set(text, found.has(secret) ? '' : HIDDEN);
      found.add(secret);
    } else if (why && (ofAll || why !== 'undrawn' || skipped(text))) {
      instead.set(text, '');
      reading.unseen++;
    }
  }
  if (!instead.size && !cut) return whole;
  if (ofAll) return '';
  return rebuilt(e, instead);
};
export const seenData = text => {
  if (secretsIn(text).length) return HIDDEN;
  if (!reading.judged || !unseen(text)) return text.data;
  reading.unseen++;
  return '';
};
