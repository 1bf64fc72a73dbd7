// Tells which fields are for a secret: password fields, even while the page shows their text, fields that draw dots,
// and those whose autocomplete, name or label says so.
import {labelsOf} from "./labels.js";

const ONCE = Symbol.for('fields for a password');
// Fields in which a secret that we know stands among other words: replies leave out the secret alone.
export const AMONG_WORDS = Symbol.for('secrets among other words');
const WORDS = /\b(otp|pin|tan|cvv|cvc|csc|2fa|mfa|pass(e|wd|wor[dt]|code|phrase)?|pwd|kennwort|contrase[nñ]a|senha|wachtwoord|heslo|secret|token)\b/i;
// JavaScript recognizes no word boundary beside these letters.
const OTHER_WORDS = /hasło|парол|密码|密碼|パスワード|비밀번호/i;
export const HIDDEN = '••••';
const NO_TEXT = ['checkbox', 'radio', 'file', 'button', 'submit', 'reset', 'image'].map(type => `[type=${type}]`);
export const EDITABLE = '[contenteditable]:not([contenteditable=false])';
export const TEXT_FIELDS = `input:not(${NO_TEXT}), textarea`;

export const drawsDots = ({webkitTextSecurity: dots}) => !!dots && dots !== 'none';

// Returns the text of a field, even if its inner text is dots. An editor's last break only keeps its last line open.
const innerText = e => drawsDots(getComputedStyle(e)) ? e.textContent : e.innerText?.replace(/\n$/, '');
export const textOfField = e => String(e.value ?? innerText(e) ?? '');

// Returns whether a field's text is meant to be invisible; `isSecret` also includes fields that only their words give
// away.
export const isMasked = e => {
  const once = e.ownerDocument[ONCE] ??= new WeakSet();
  if (e.type === 'password') once.add(e);
  // A combobox with its own list says `new-password` only to turn off the browser's list.
  const words = e.getAttribute('role') === 'combobox' ? /current-password|one-time-code/ : /password|one-time-code/;
  return once.has(e) || words.test(e.autocomplete || e.getAttribute('autocomplete') || '')
    || drawsDots(getComputedStyle(e)) && !e.ownerDocument[AMONG_WORDS]?.has(e);
};
export const isSecret = found => {
  const e = 'value' in found ? found : found.closest(EDITABLE) ?? found;
  if (isMasked(e) || /\bcc-/.test(e.autocomplete || '')) return true;
  const described = [...e.ariaLabelledByElements || []].map(label => label.textContent);
  const words = [e.name, e.id, e.getAttribute('aria-label'), labelsOf(e).at(-1)?.textContent, e.placeholder, ...described].join(' ');
  return WORDS.test(words.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ')) || OTHER_WORDS.test(words);
};

// Returns the value of a field or button, without a secret.
export const plainValue = e => e.matches(TEXT_FIELDS) && isSecret(e) ? '' : e.value;

// Returns the editable elements around or within an element that hold a secret.
const editables = new Map();
export const secretsIn = e => {
  const root = e.getRootNode();
  if (!editables.has(root)) {
    editables.set(root, [...root.querySelectorAll(EDITABLE)].filter(f => f.textContent && isSecret(f)));
  }
  return editables.get(root).filter(f => f.contains(e) || e.contains(f));
};

// Returns the HTML or the raw text of an element without such secrets.
export const withoutSecrets = (html, e) => secretsIn(e).reduce((html, field) => {
  const end = `</${field.localName}>`, itself = `>${field.innerHTML}${end}`;
  if (field.contains(e) && html !== field.outerHTML) return HIDDEN;
  return html.includes(itself) ? html.replaceAll(itself, () => `>${HIDDEN}${end}`) : html.replaceAll(field.textContent, () => HIDDEN);
}, html);

// Returns what was typed into a root's secret fields: first where it is invisible, then where only the field's words
// give it away. An editable element's text may be in pieces.
const MOST_PIECES = 200;
export const typedIn = (root, known = [[], []]) => {
  for (const e of root.querySelectorAll(TEXT_FIELDS)) {
    if (e.value && isSecret(e)) known[isMasked(e) ? 0 : 1].push(e.value);
  }
  for (const e of root.querySelectorAll(EDITABLE)) {
    if (!e.textContent || !isSecret(e)) continue;
    const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), pieces = [e.innerText];
    while (pieces.length < MOST_PIECES && walker.nextNode()) pieces.push(walker.currentNode.data);
    known[0].push(...pieces);
  }
  return known;
};
