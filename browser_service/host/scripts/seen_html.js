// Returns the HTML of an element without its unseen texts, with open shadow trees in their places, what fields show in
// place of these, and code in one piece. `KEPT` stands for blanks that begin a line and that people see.
import {fieldWords} from "./document_parts.js";
import {flatTree} from "./flat_tree.js";
import {MONO, NUMBER, lineNumbers} from "./line_numbers.js";
import {allIn, boxOfElement, closest, firstIn, matches, parentElement, parentOf} from "./past_names.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {MOST_TEXTS, inUndrawn, keepsBlanks, placeOf, seenPart, reading, texts, unseen, unseenElement} from "./seen.js";
import {seenText} from "./seen_text.js";

const MOST_NAMED = 5000, LEAST_LINE_PX = 8, KEPT = '\ufdd0', TAB = KEPT.repeat(4);
const WITHIN_A_LINE = 'a, b, button, em, i, label, small, span, strong';
const MAY_BE_CODE = 'pre, div, code, section', NO_CODE = 'img, table, p, ul, ol, h1, h2, h3, h4, input, select, textarea, iframe';
const NO_LINES = `${NO_CODE}, a[href], button`;

// Returns whether an element, or a button, begins a line or a box of its own, so that its words are no part of others.
const standsAlone = e => matches(e, WITHIN_A_LINE)
  && (e.localName === 'button' || !/^(inline|contents|none|ruby)/.test(getComputedStyle(e).display));

const NOTHING = /^[\s\u200b]*$/, EMPTY_LINE = '\u200b';
// Returns the lines of code that have no words, and are as high as others.
const emptyLines = e => {
  const wordless = new Map(), isWordless = line => NOTHING.test(line.textContent);
  const areAll = up => wordless.get(up) ?? wordless.set(up, [...up.children].every(isWordless)).get(up);
  return [...allIn(e, 'div, pre')].filter(line => isWordless(line) && boxOfElement(line).height > LEAST_LINE_PX
    && !firstIn(line, 'div, pre, br') && !areAll(parentElement(line)));
};
// All that is in an element is read to tell whether it is code, and again for what is in one that is none: after many of
// these no other is looked at.
let others = 100;
// Returns the texts beside lines of code that are a `pre` each, if these have nothing beside them but numbers; else null.
const besideLines = e => {
  const lines = [...allIn(e, 'pre')];
  if (lines.length < 2) return null;
  const beside = [...texts(e)].filter(text => text.data.trim() && !closest(parentOf(text), 'pre'));
  const areLines = !lines.some(line => line.textContent.trim().includes('\n'))
    && beside.every(text => NUMBER.test(text.data) || closest(parentOf(text), '[aria-hidden=true]'));
  return areLines ? beside : void others--;
};
// Returns lines of code, as in an editor, in one piece; null for an element that is none.
const codeIn = (e, copies, numbers) => {
  if (!matches(e, MAY_BE_CODE) || others <= 0) return null;
  const {whiteSpace, fontFamily, display} = placeOf(e).style, isPre = e.localName === 'pre';
  if (!MONO.test(fontFamily) || !/^(block|flex|grid)/.test(display)) return null;
  const beside = isPre || firstIn(e, NO_LINES) ? null : besideLines(e);
  if (!beside && !keepsBlanks(e) && whiteSpace !== 'nowrap') return null;
  if (!beside && (firstIn(e, isPre ? NO_CODE : NO_LINES) || !isPre && !e.innerText.trim().includes('\n'))) return void others--;
  const left = [...beside ?? [], ...numbers].filter(text => e.contains(text)), code = copies.createElement('pre');
  const words = [...left.map(text => [text, '']), ...isPre ? [] : emptyLines(e).map(line => [line, EMPTY_LINE])];
  code.textContent = seenText(e, false, new Map(words)).replaceAll('\u00a0', ' ').replaceAll(EMPTY_LINE, '').replace(/^\n+|\s+$/g, '');
  return left.length && !code.textContent.trim() ? null : code;
};
const fieldIn = (e, copies) => {
  const field = copies.createElement('span');
  for (const line of fieldWords(e).split('\n')) field.append(...field.hasChildNodes() ? [copies.createElement('br'), line] : [line]);
  return field;
};

export default seenPart(root => {
  const copies = document.implementation.createHTMLDocument(''), copyOf = new Map(), whole = new Set(), numbers = lineNumbers(root);
  let count = 0, named = 0;
  for (const node of flatTree(root, e => whole.has(e))) {
    const isElement = node.nodeType === Node.ELEMENT_NODE, isField = isElement && matches(node, 'input, select, textarea');
    if (numbers.has(node)) continue;
    const code = isElement && !isField ? codeIn(node, copies, numbers) : null, alone = isField || isElement && standsAlone(node);
    if (isField || code) whole.add(node);
    const copy = isField ? fieldIn(node, copies) : code ?? copies.importNode(node, false);
    copyOf.get(parentOf(node))?.append(...alone ? [' ', copy, ' '] : [copy]);
    copyOf.set(node, copy);
    const words = isElement && !isField && fieldWords(node);
    if (words) copy.prepend(words, ' ');
    if (node.nodeType === Node.TEXT_NODE && count++ < MOST_TEXTS) {
      if (secretsIn(node).length) copy.data = HIDDEN;
      else if (unseen(node) && !inUndrawn(node)) {
        reading.unseen++;
        copy.data = '';
      } else if (keepsBlanks(parentOf(node))) copy.data = copy.data.replace(/^[ \t]+/gm, all => all.replaceAll('\t', TAB).replaceAll(' ', KEPT));
    } else if (isElement && matches(node, '[alt], [title], [aria-label]') && named++ < MOST_NAMED
      && unseenElement(node)) for (const name of ['alt', 'title', 'aria-label']) copy.removeAttribute(name);
  }
  const all = copyOf.get(root);
  return all.outerHTML ?? all.textContent;
});
