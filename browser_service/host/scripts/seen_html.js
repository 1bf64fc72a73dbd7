// Returns the HTML of an element without its unseen texts, with open shadow trees in their places.
import {flatTree} from "./flat_tree.js";
import {closest, matches, parentElement, parentOf} from "./past_names.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {MOST_TEXTS, inUndrawn, seenPart, reading, unseen, unseenElement} from "./seen.js";

const MOST_NAMED = 5000;
const WITHIN_A_LINE = 'a, b, button, em, i, label, small, span, strong';

// Returns whether an element, or a button, begins a line or a box of its own, so that its words are no part of others.
const standsAlone = e => matches(e, WITHIN_A_LINE)
  && (e.localName === 'button' || !/^(inline|contents|none|ruby)/.test(getComputedStyle(e).display));

// Returns whether a text is an option that a closed list does not show.
const isNotChosen = text => {
  const e = parentElement(text);
  return e?.localName === 'option' && !e.selected && !!closest(e, 'select:not([multiple], [size])');
};

export default seenPart(root => {
  const copies = document.implementation.createHTMLDocument(''), copyOf = new Map();
  let texts = 0, named = 0;
  for (const node of flatTree(root)) {
    const copy = copies.importNode(node, false);
    const alone = node.nodeType === Node.ELEMENT_NODE && standsAlone(node);
    copyOf.get(parentOf(node))?.append(...alone ? [' ', copy, ' '] : [copy]);
    copyOf.set(node, copy);
    if (node.nodeType === Node.TEXT_NODE && texts++ < MOST_TEXTS) {
      if (secretsIn(node).length) copy.data = HIDDEN;
      else if (isNotChosen(node)) copy.data = '';
      else if (unseen(node) && !inUndrawn(node)) {
        reading.unseen++;
        copy.data = '';
      }
    } else if (node.nodeType === Node.ELEMENT_NODE && matches(node, '[alt], [title], [aria-label]') && named++ < MOST_NAMED
      && unseenElement(node)) for (const name of ['alt', 'title', 'aria-label']) copy.removeAttribute(name);
  }
  const whole = copyOf.get(root);
  return whole.outerHTML ?? whole.textContent;
});
