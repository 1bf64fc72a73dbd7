// Returns the role and all words of what a click on an element, or a key pressed on it, triggers; nothing for keys that
// only type.
import {cut} from "./cut.js";
import {clickable} from "./clickable.js";
import {CONTROLS} from "./control.js";

const ROLES = {a: 'link', button: 'button', select: 'combobox', textarea: 'textbox', summary: 'button', option: 'option'};
const BUTTONS = ['submit', 'button', 'reset', 'image'];
const NO_TEXT = [...BUTTONS, 'checkbox', 'radio', 'range', 'color', 'file'];
const MOST = 500, MOST_READ = 3000, MOST_INSIDE = 50;

const roleOf = e => e.getAttribute('role') || (e.localName !== 'input' ? ROLES[e.localName] || e.localName
  : BUTTONS.includes(e.type) ? 'button' : ['checkbox', 'radio'].includes(e.type) ? e.type : 'textbox');

const drawn = e => ['::before', '::after'].map(part => getComputedStyle(e, part).content)
  .filter(text => /^["']/.test(text)).map(text => text.slice(1, -1));

// Returns the text of an element without that of the controls in it, which have clicks of their own.
const textOf = (e, inside) => inside.reduce((text, each) => text.replace(each.innerText, ' '),
  (e.innerText || e.textContent || '').slice(0, MOST_READ));

const wordsOf = e => {
  const inside = e.matches(CONTROLS) ? [] : [...e.querySelectorAll(CONTROLS)].slice(0, MOST_INSIDE);
  const ids = ['aria-labelledby', 'aria-describedby'].map(name => e.getAttribute(name) || '').join(' ');
  const byId = ids.split(/\s+/).filter(id => id).slice(0, 8)
    .map(id => e.getRootNode().getElementById?.(id)?.textContent);
  const pictures = [...e.querySelectorAll('img[alt], [aria-label], title')]
    .filter(p => !inside.some(each => each.contains(p))).slice(0, 5)
    .map(p => p.getAttribute('alt') || p.getAttribute('aria-label') || p.textContent);
  const own = e.localName === 'input' && BUTTONS.includes(e.type) ? e.value || e.alt : '';
  const labels = [...e.labels || []].slice(0, 5).map(label => label.textContent);
  return cut([e.getAttribute('aria-label'), ...byId, textOf(e, inside), own,
    e.getAttribute('title'), ...labels, ...pictures, ...drawn(e)].filter(text => text).join(' · '), MOST);
};

const sends = e => e.matches('button, input') && ['submit', 'image'].includes(e.type);

// Returns the button that Enter in a field of the form presses, which may be outside of the form.
const submitOf = form => [...form.getRootNode().querySelectorAll('button, input')]
  .find(e => e.form === form && sends(e));

const byAccessKey = (e, key) => [...e.ownerDocument.querySelectorAll('[accesskey]')]
  .find(each => each.accessKey.toLowerCase() === key);

export default (e, {entered, typed, accessKey}) => {
  let found = clickable(e);
  const isInput = found.localName === 'input';
  const takesText = found.isContentEditable || found.localName === 'textarea' || (isInput && !NO_TEXT.includes(found.type));
  if (typed && takesText && !(entered && isInput)) return {};
  if (entered && found.form && isInput && !BUTTONS.includes(found.type)) found = submitOf(found.form) || found;
  if (accessKey) found = byAccessKey(e, accessKey) || found;
  return {role: roleOf(found), words: wordsOf(found)};
};
