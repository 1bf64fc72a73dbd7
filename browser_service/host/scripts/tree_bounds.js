// Ends the making of a tree that becomes too large, because a small page can give each of a thousand elements the same
// long name. The size shows only in Playwright's own collections, in a world that the page's scripts cannot reach.
// Playwright takes selector engines along into that world, so this is one; it finds a document whose last tree was
// ended. It also ends a search for elements that takes too long, as `*:near(*)` does on a page of a thousand elements.
import {forgetEditors, showBehind, showEditors, showKeyed, showValues, showWords} from "./tree_words.js";

const MOST_LOOKS = 500_000, MOST_CHARACTERS = 4_500_000;
// The trees of all frames come in one message, so each has a share.
const MOST_IN_A_FRAME = 600_000, MOST_IN_FRAMES = 6_000_000, MOST_COUNTED = 1_000;
const NO_TEXT = /^(script|style)$/i, FEW = 1_000, MOST_BEGUN = 8;
const MOST_SEARCH_MS = 1_000, LOOKS_BETWEEN = 32;
let isTooLarge = false;

// Returns how much a tree has of an element besides its name and texts. If that is long, it counts only for visible
// elements.
const beside = e => {
  const href = e.getAttribute('href'), address = href === null || href.startsWith('data:') ? 0 : href.length;
  const length = address + ('placeholder' in e ? e.value.length + e.placeholder.length : 0);
  return length < FEW || e.checkVisibility({visibilityProperty: true}) ? length : 0;
};

const framesIn = (view, counted = 0) => {
  for (let n = 0; n < view.length && counted < MOST_COUNTED; n++) counted = framesIn(view[n], counted + 1);
  return counted;
};
const mostHere = () => parent === self ? MOST_CHARACTERS : Math.min(MOST_IN_A_FRAME, MOST_IN_FRAMES / framesIn(top));

const bound = () => {
  const {set} = Map.prototype, {add} = Set.prototype;
  self[Symbol.for('uncounted')] = {  // for our own scripts
    Map: class extends Map { set(key, value) { return set.call(this, key, value); } },
    Set: class extends Set { add(key) { return add.call(this, key); } },
  };
  let looks = 0, characters = 0, most = 0, begun = 0, isMaking = false, steps = 0, since = 0;
  const count = length => {
    if (!looks++) {
      most = mostHere();
      queueMicrotask(() => {  // the tree is complete by then
        looks = characters = begun = 0;
        isMaking = false;
        forgetEditors();
      });
    }
    characters += length;
    isTooLarge = looks > MOST_LOOKS || characters > most;
    if (isTooLarge) throw new Error('too large for a tree');
  };
  const step = () => {
    if (!steps++) {
      since = performance.now();
      queueMicrotask(() => { steps = 0; });  // a search is one task
    }
    else if (!isMaking && steps % LOOKS_BETWEEN === 0 && performance.now() - since > MOST_SEARCH_MS)
      throw new Error('search takes too long');
  };
  Map.prototype.set = function (key, value) {
    if (key instanceof Element) step();
    const text = value?.text ?? value;
    if (typeof text === 'string' && key instanceof Element) count(text.length);
    return set.call(this, key, value);
  };
  Set.prototype.add = function (key) {
    if (key instanceof Element) {
      step();
      // A search also collects elements in sets, and the making of a tree begins with one.
      if (!isMaking && !this.size && begun++ < MOST_BEGUN && new Error().stack.includes('generateAriaTree')) {
        isMaking = true;
        count(showEditors());
        showBehind();
        showKeyed();
        showValues();
      }
      count(beside(key));
    }
    else if (key instanceof Text && !NO_TEXT.test(key.parentNode?.nodeName)) count(key.length);
    return add.call(this, key);
  };
  showWords(() => isMaking);
};

export default () => {
  if (self.customElements === null) bound();  // which shows that this is one of Chromium's isolated worlds
  return {queryAll: root => isTooLarge ? [root] : []};
};
