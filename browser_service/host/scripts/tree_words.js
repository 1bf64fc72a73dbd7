// Makes Playwright put into a tree what it would leave out: line breaks between words, the text of editors, the groups
// of a list's options, boxes that their labels stand for, and what tells fields without names apart. Playwright asks the elements in a world of its own, so
// they can answer differently there. `isMaking` tells whether a tree is being made; some answers are for trees alone.
import {boxOfElement, isScrolled, parentElement} from "./past_names.js";

const {getAttribute} = Element.prototype, {checkVisibility} = HTMLElement.prototype;

const answer = (of, name, ask) => Object.defineProperty(of, name, {...ask, configurable: true});

// A line break counts as a break if it is taken for inline text.
const breakLines = () => answer(HTMLBRElement.prototype, 'childNodes', {get: () => [{nodeType: Node.TEXT_NODE}]});

const showGroups = () => {
  answer(HTMLOptGroupElement.prototype, 'checkVisibility', {value(how) {
    return checkVisibility.call(this.closest('select') ?? this, how);
  }});
  answer(HTMLOptGroupElement.prototype, 'getAttribute', {value(name) {
    return getAttribute.call(this, name) ?? (name === 'aria-label' ? this.label : null);
  }});
};

// A box without a visible place of its own, or that takes no mouse, is pressed by its label.
const boxOf = label => {
  const box = label.control, isBox = box?.type === 'radio' || box?.type === 'checkbox';
  const {width, height} = isBox ? box.getBoundingClientRect() : {};
  return !isBox || width && height && box.checkVisibility({visibilityProperty: true})
    && getComputedStyle(box).pointerEvents !== 'none' ? null : box;
};
const STATES = {'role': box => getAttribute.call(box, 'role') ?? box.type, 'aria-label': box => getAttribute.call(box, 'aria-label'),
  'aria-checked': box => box.indeterminate ? 'mixed' : String(box.checked), 'aria-disabled': box => box.disabled ? 'true' : null};
const showBoxes = isMaking => answer(HTMLLabelElement.prototype, 'getAttribute', {value(name) {
  const own = getAttribute.call(this, name), state = own === null && isMaking() && STATES[name];
  const box = state && boxOf(this);
  return box ? state(box) : own;
}});

// Playwright takes the value of text areas, and of other editors only the elements inside.
const EDITORS = '[contenteditable]:not([contenteditable=false])', MOST_EDITORS = 500;
const isBare = editor => [...editor.childNodes].some(node => node.nodeType === Node.TEXT_NODE ? node.data.trim()
  : node.localName === 'span' && !node.childElementCount && node.textContent);
// Text drawn as dots is taken in its own characters, so that it can be hidden.
const wordsOf = editor => getComputedStyle(editor).webkitTextSecurity === 'none' ? editor.innerText : editor.textContent;
const shown = [], isShown = new WeakSet(), isInstance = Function.prototype[Symbol.hasInstance];
const knowEditors = () => answer(HTMLTextAreaElement, Symbol.hasInstance,
  {value: e => isShown.has(e) || isInstance.call(HTMLTextAreaElement, e)});
const showEditor = e => {
  const role = getAttribute.call(e, 'role'), words = isBare(e) ? wordsOf(e) : '';
  if (role === null) answer(e, 'getAttribute', {value: name => name === 'role' ? 'textbox' : getAttribute.call(e, name)});
  else if (role !== 'textbox') return 0;
  answer(e, 'value', {value: words});
  isShown.add(e);
  shown.push(e);
  return words.length;
};
export const showEditors = () => [...document.querySelectorAll(EDITORS)].slice(0, MOST_EDITORS)
  .filter(e => e.isContentEditable && !e.parentElement?.isContentEditable).reduce((length, e) => length + showEditor(e), 0);
// What a page hides from screen readers while its own dialog is open is kept in the tree, because people see it behind
// the dialog.
const OPEN = 'dialog[open], [aria-modal=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]';
const HIDDEN_BEHIND = '[aria-hidden=true]', WORKED = 'a[href], button, input, select, textarea, [tabindex]', MOST_BEHIND = 200;
export const showBehind = () => {
  if (!document.querySelector(OPEN)) return;
  for (const e of [...document.querySelectorAll(HIDDEN_BEHIND)].slice(0, MOST_BEHIND)) {
    if (isShown.has(e) || !(e.matches(WORKED) || e.querySelector(WORKED)) || e.matches(OPEN)) continue;
    answer(e, 'getAttribute', {value: name => name === 'aria-hidden' ? null : getAttribute.call(e, name)});
    shown.push(e);
  }
};
// What takes the keys for an editor may have no width, and Playwright gives refs to what has some.
const KEYED = '[tabindex]';
export const showKeyed = () => {
  for (const e of [...document.querySelectorAll(KEYED)].filter(each => each.editContext).slice(0, MOST_EDITORS)) {
    const box = boxOfElement(e);
    if (isShown.has(e) || box.width && box.height) continue;
    answer(e, 'getBoundingClientRect', {value: () => new DOMRect(box.x, box.y, box.width || 1, box.height || 1)});
    shown.push(e);
  }
};
// Playwright gives no values of bars, gauges and sliders that are no text fields, nor the ticks of cells.
const BARS = 'progress, meter, [role=progressbar], [role=meter], [role=slider], [role=spinbutton], [role=scrollbar], '
  + '[role=gridcell][aria-checked]';
const PERCENT = [1, 100], MOST_BARS = 200;
const valueOf = e => {
  const said = getAttribute.call(e, 'aria-valuetext') ?? '';
  const [now, most] = ['now', 'max'].map(part => getAttribute.call(e, `aria-value${part}`) ?? getAttribute.call(e, part === 'now' ? 'value' : part));
  if (e.matches('[role=gridcell]')) return e.ariaChecked === 'true' ? 'checked' : 'not checked';
  if (said || now === null) return said;
  const isWhole = e.matches('progress, [role=progressbar]'), whole = +(most ?? (e.localName === 'progress' ? 1 : 100));
  return !isWhole ? now : PERCENT.includes(whole) ? `${Math.round(100 * now / whole)}%` : `${now} of ${whole}`;
};
export const showValues = () => {
  for (const e of [...document.querySelectorAll(BARS)].slice(0, MOST_BARS)) {
    const words = e.matches('input, textarea') || e.textContent.trim() ? '' : valueOf(e);
    if (!words) continue;
    answer(e, 'value', {value: words});
    isShown.add(e);
    shown.push(e);
  }
};
// A field without a name gets one of its type, if that is none of plain text, and its `name`, between two signs that the
// reader of the tree knows. The type is that of the first tree: a password's may change when the page shows it.
const SIGN = '\u2063', SHOWN_TYPES = /^(password|email|tel|url|date|datetime-local|month|week|time|color)$/, MOST_OF_NAME = 40;
const types = new WeakMap();
const ofField = field => {
  if (!types.has(field)) types.set(field, SHOWN_TYPES.test(field.type) ? field.type : '');
  const name = (getAttribute.call(field, 'name') ?? '').replace(/[\s\u2063]+/g, ' ').trim().slice(0, MOST_OF_NAME);
  return types.get(field) || name ? `${SIGN}${types.get(field)} ${name}${SIGN}` : null;
};
// A field left of or above all that people can scroll to has a sign on both sides of its name. Inputs that take files or
// ticks by a label at another place are none.
const AWAY = '\u2064', TICKED = /^(checkbox|radio)$/;
const isOutside = e => {
  const {right, bottom, width} = boxOfElement(e), root = document.documentElement;
  const isLeft = right + scrollX <= 0 && getComputedStyle(root).direction !== 'rtl';
  if (!width || !isLeft && bottom + scrollY > 0) return false;
  let up = parentElement(e);
  while (up && up !== root && !isScrolled(up)) up = parentElement(up);
  return !up || up === root;
};
const isTickedBeside = field => TICKED.test(field.type) && [...field.labels].some(label => !isOutside(label));
// Playwright asks for each name several times, and the browser searches the whole document for the labels of a field.
const away = new Map();
const isAway = field => {
  if (!away.has(field)) away.set(field, field.type !== 'file' && isOutside(field) && !isTickedBeside(field));
  return away.get(field);
};
const nameOfAway = field => {
  const ofLabels = [...field.ariaLabelledByElements ?? [], ...field.labels].map(label => label.textContent).join(' ');
  const names = ['aria-label', 'title', 'placeholder'].map(name => getAttribute.call(field, name));
  return `${AWAY}${[ofLabels, ...names].map(name => name?.trim()).find(name => name) ?? ''} ${ofField(field) ?? ''}${AWAY}`;
};
const showFields = isMaking => {
  for (const {prototype} of [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement]) {
    answer(prototype, 'getAttribute', {value(name) {
      const own = getAttribute.call(this, name), isNameless = name === 'title' && isMaking() && !own?.trim();
      if (name.startsWith('aria-label') && isMaking() && isAway(this)) return name === 'aria-label' ? nameOfAway(this) : null;
      return isNameless && !getAttribute.call(this, 'placeholder') ? ofField(this) : own;
    }});
  }
};
export const forgetEditors = () => {
  away.clear();
  for (let e; (e = shown.pop());) {
    isShown.delete(e);
    delete e.value;
    delete e.getAttribute;
    delete e.getBoundingClientRect;
  }
};

export const showWords = isMaking => {
  breakLines();
  showGroups();
  showBoxes(isMaking);
  showFields(isMaking);
  knowEditors();
};
