// Guards the secrets that a document's origin was given, by what a field holds and not by which field it is. A field that
// holds one, whole or cut, draws dots, no edit leaves a part of it, and nothing is copied or dragged out of it; what the
// browser filled again after a reload is emptied. Also prepares a field for a secret, and returns what the field kept of
// it: a number of characters, and the secret in the form that it has there, which is empty if the field lacks a part.
import {AMONG_WORDS, EDITABLE, TEXT_FIELDS, drawsDots} from "./secret_field.js";

const GUARD = Symbol.for('guard of given secrets'), DOTS = '-webkit-text-security';
const EVERY_MS = 200, REST = 20, MOST_FIELDS = 5000, MOST_ELEMENTS = 50000, MOST_CHARACTERS = 5e6;
// The least that counts as a cut secret: of a field that is as full as it can be, and of any.
const LEAST_FULL = 4, LEAST_CUT = 5;
const MOST_AROUND = 5000, MOST_LEVELS = 4, MOST_DEEP = 50;

const isInput = e => e.localName === 'input' || e.localName === 'textarea';
const textOf = e => isInput(e) ? e.value : e.textContent;
const letters = text => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
const elementOf = node => node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement ?? document.documentElement;
const fieldOf = event => {
  const e = elementOf(event.composedPath()[0]);
  return isInput(e) ? e : e.closest(EDITABLE);
};

// Empties a field as a person would, so that the page's scripts notice.
const empty = e => {
  if (!textOf(e)) return;
  if (isInput(e)) Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, '');
  else e.textContent = '';
  e.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
};

const placeOf = (e, range) => [[range.startContainer, range.startOffset], [range.endContainer, range.endOffset]].map(end => {
  const before = document.createRange();
  before.selectNodeContents(e);
  before.setEnd(...end);
  return before.toString().length;
});

// Returns which part of a field's text an edit replaces; null if that is unknown.
const reachOf = (e, event) => {
  if (/^history|Drop$/.test(event.inputType)) return null;
  if (!isInput(e)) return event.getTargetRanges().map(range => placeOf(e, range))[0] ?? null;
  const {selectionStart: from, selectionEnd: to} = e;
  if (from === null || from !== to || event.inputType.startsWith('insert')) return from === null ? null : [from, to];
  const ways = {deleteContentBackward: [from - 1, from], deleteContentForward: [from, from + 1]};
  return ways[event.inputType] ?? null;
};

// Returns the element around a selection whose text shows whether the selection is a part of a secret, and its place there.
const selectionIn = e => {
  if (isInput(e)) return [e, e.selectionStart === null ? [0, Infinity] : [e.selectionStart, e.selectionEnd]];
  const selection = e.getRootNode().getSelection?.() ?? document.getSelection();
  if (!selection.rangeCount) return [e, null];
  const range = selection.getRangeAt(0);
  let wide = elementOf(range.commonAncestorContainer);
  for (let level = 0; level < MOST_LEVELS && wide.parentElement?.textContent.length < MOST_AROUND; level++) wide = wide.parentElement;
  return [wide, placeOf(wide, range)];
};

const fieldsIn = (root, withRoots, found = []) => {
  for (const e of root.querySelectorAll(`${TEXT_FIELDS}, ${EDITABLE}`)) found.push(e);
  if (withRoots) for (const e of root.querySelectorAll('*')) if (e.shadowRoot) fieldsIn(e.shadowRoot, true, found);
  return found;
};
const allFields = () => fieldsIn(document, document.getElementsByTagName('*').length < MOST_ELEMENTS);

const install = () => {
  let secrets = [], filling = null, due = 0;
  let refills = ['reload', 'back_forward'].includes(performance.getEntriesByType('navigation')[0]?.type);
  const held = new WeakSet(), edited = new WeakSet(), dotted = new Set(), among = document[AMONG_WORDS] ??= new WeakSet();

  // Returns the places of secrets in a field's text. A cut secret has the field for itself.
  const placesIn = (e, text = textOf(e)) => {
    const places = [], part = text.trim(), size = part.length;
    for (const secret of secrets) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) places.push([at, at + secret.length]);
    }
    const isCut = secret => size < secret.length && (size === e.maxLength && size >= LEAST_FULL && secret.startsWith(part)
      || size >= LEAST_CUT && 2 * size + 1 >= secret.length && secret.includes(part));
    return places.length || !secrets.some(isCut) ? places : [[0, text.length]];
  };
  const isAll = (text, places) => places.some(([from, to]) => text.slice(from, to).trim() === text.trim());
  const drawersOf = (e, level = 0) => {
    const inner = isInput(e) || level > MOST_DEEP ? [] : [...e.children].filter(child => placesIn(child, child.textContent).length);
    return inner.length ? inner.flatMap(child => drawersOf(child, level + 1)) : [e];
  };

  const look = () => {
    const began = performance.now(), drawn = new Set(filling ? [filling] : []);
    let room = MOST_CHARACTERS;
    for (const e of allFields().slice(0, MOST_FIELDS)) {
      const text = textOf(e);
      room -= text.length;
      const places = text.length < LEAST_FULL || room < 0 ? [] : placesIn(e, text);
      if (!places.length) held.delete(e);
      else if (refills && !edited.has(e) && isInput(e) && e.value !== e.defaultValue) empty(e);
      else {
        held.add(e);
        if (isAll(text, places)) among.delete(e);
        else among.add(e);
        if (e.type !== 'password') drawersOf(e).forEach(each => drawn.add(each));
      }
    }
    for (const e of dotted) {
      if (!drawn.has(e)) e.style.removeProperty(DOTS);
      if (!drawn.has(e)) dotted.delete(e);
    }
    for (const e of drawn) {
      dotted.add(e);
      if (!drawsDots(getComputedStyle(e))) e.style.setProperty(DOTS, 'disc', 'important');
    }
    refills &&= document.readyState !== 'complete';
    const now = performance.now();
    due = now + REST * (now - began);
  };
  const lookIfDue = () => { if (performance.now() >= due) look(); };

  const beforeEdit = event => {
    const e = fieldOf(event), text = e && textOf(e), places = e ? placesIn(e, text) : [];
    if (!event.isTrusted || !places.length || e === filling) return;
    const reach = reachOf(e, event), covers = ([from, to]) => reach && reach[0] <= from && to <= reach[1];
    const breaks = place => !reach || reach[0] < place[1] && place[0] < reach[1] && !covers(place);
    if (places.every(covers)) held.delete(e);
    else if (isAll(text, places)) {
      const isEnter = event.inputType === 'insertLineBreak' && (e.localName === 'input' || e.selectionStart === text.length);
      const isStep = e.type === 'number' && Math.abs(event.data - text) <= (Number(e.step) || 1);
      if (isEnter) return;
      if (isStep) event.preventDefault();
      held.delete(e);
      empty(e);
    } else if (places.some(breaks)) event.preventDefault();
  };
  // A command of `execCommand` has only this event. Our scripts fill a field so, and replace all of it.
  const afterEdit = event => {
    const e = fieldOf(event);
    if (e && event.isTrusted) {
      edited.add(e);
      if (held.has(e) && e !== filling && !placesIn(e).length && textOf(e) !== event.data) empty(e);
    }
    lookIfDue();
  };
  const take = event => {
    const [e, place] = selectionIn(fieldOf(event) ?? elementOf(event.composedPath()[0]));
    if (!place || !placesIn(e).some(([from, to]) => place[0] < to && from < place[1])) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  addEventListener('beforeinput', beforeEdit, true);
  addEventListener('input', afterEdit, true);
  for (const kind of ['copy', 'cut', 'dragstart']) addEventListener(kind, take, true);
  for (const kind of ['click', 'keyup', 'change', 'input', 'load', 'pageshow']) addEventListener(kind, lookIfDue);
  new MutationObserver(lookIfDue).observe(document, {
    subtree: true, childList: true, attributes: true, attributeFilter: ['type', 'contenteditable'],
  });
  setInterval(lookIfDue, EVERY_MS);

  const kept = (e, given) => {
    const text = textOf(e), isWhole = text.includes(given) || fieldsIn(e.getRootNode(), false).map(textOf).join('').includes(given);
    const form = isWhole ? given : letters(given) && letters(text) === letters(given) ? text : '';
    if (!form && text.length < given.length) empty(e);
    return [text.length, form];
  };
  return (texts, e, given) => {
    secrets = texts;
    if (e && given === null) {
      empty(e);
      filling = e;
    } else if (e) filling = null;
    const found = e && given !== null ? kept(e, given) : null;
    look();
    return found;
  };
};

export default (first, second) => {
  const [e, {of, texts, given}] = second ? [first, second] : [null, first];
  return origin === of ? (globalThis[GUARD] ??= install())(texts, e, given) : [0, ""];
};
