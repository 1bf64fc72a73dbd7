// Returns the HTML of an element without its unseen texts, with open shadow trees in their places, what fields show in
// place of these, and code in one piece. `KEPT` stands for blanks that begin a line and that people see.
import {fieldWords} from "./document_parts.js";
import {flatTree} from "./flat_tree.js";
import {firstIn, matches, parentOf} from "./past_names.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {MOST_TEXTS, inUndrawn, keepsBlanks, placeOf, seenPart, reading, unseen, unseenElement} from "./seen.js";
import {seenText} from "./seen_text.js";

const MOST_NAMED = 5000, KEPT = '\ufdd0', TAB = KEPT.repeat(4);
const WITHIN_A_LINE = 'a, b, button, em, i, label, small, span, strong';
const MAY_BE_CODE = 'pre, div, code, section', NO_CODE = 'img, table, p, ul, ol, h1, h2, h3, h4, input, select, textarea, iframe';

// Returns whether an element, or a button, begins a line or a box of its own, so that its words are no part of others.
const standsAlone = e => matches(e, WITHIN_A_LINE)
  && (e.localName === 'button' || !/^(inline|contents|none|ruby)/.test(getComputedStyle(e).display));

// Returns whether an element is lines of code, as in an editor. All that is in it is read to tell, and again for what is
// in one that is none, so that after many of these no other is looked at.
let others = 100;
const isCode = e => {
  if (!matches(e, MAY_BE_CODE) || others <= 0) return false;
  const {whiteSpace, fontFamily, display} = placeOf(e).style, isPre = e.localName === 'pre';
  if (!keepsBlanks(e) && whiteSpace !== 'nowrap' || !/mono/i.test(fontFamily) || !/^(block|flex|grid)/.test(display)) return false;
  const isOne = !firstIn(e, isPre ? NO_CODE : `${NO_CODE}, a[href], button`) && (isPre || e.innerText.trim().includes('\n'));
  if (!isOne) others--;
  return isOne;
};
const codeIn = (e, copies) => {
  const code = copies.createElement('pre');
  code.textContent = seenText(e).replaceAll('\u00a0', ' ');
  return code;
};
const fieldIn = (e, copies) => {
  const field = copies.createElement('span');
  for (const line of fieldWords(e).split('\n')) field.append(...field.hasChildNodes() ? [copies.createElement('br'), line] : [line]);
  return field;
};

export default seenPart(root => {
  const copies = document.implementation.createHTMLDocument(''), copyOf = new Map(), whole = new Set();
  let texts = 0, named = 0;
  for (const node of flatTree(root, e => whole.has(e))) {
    const isElement = node.nodeType === Node.ELEMENT_NODE, isField = isElement && matches(node, 'input, select, textarea');
    const asCode = isElement && !isField && isCode(node), alone = isField || isElement && standsAlone(node);
    if (isField || asCode) whole.add(node);
    const copy = isField ? fieldIn(node, copies) : asCode ? codeIn(node, copies) : copies.importNode(node, false);
    copyOf.get(parentOf(node))?.append(...alone ? [' ', copy, ' '] : [copy]);
    copyOf.set(node, copy);
    const words = isElement && !isField && fieldWords(node);
    if (words) copy.prepend(words, ' ');
    if (node.nodeType === Node.TEXT_NODE && texts++ < MOST_TEXTS) {
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
