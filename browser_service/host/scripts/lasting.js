// Returns selectors that find an element again after its site has changed, the most lasting first: role and name, if
// nothing else has them; else these beside the words of the row or card that the element is alone in; its test id; its
// label; its text; and its place, unless others like it could take that. `frame` is the way into its iframe, if it is in one of the page's own origin;
// `alone` says whether nothing else has its role and name.
import {cssPath, ownCss} from "./css_path.js";
import {parentElement} from "./past_names.js";

const ROLES = {button: 'button', textarea: 'textbox', option: 'option', h1: 'heading', h2: 'heading', h3: 'heading'};
const TYPES = {button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton'};
const BY_CONTENT = /^(button|link|option|tab|heading|menuitem.*|checkbox|radio|switch|treeitem)$/;
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy'];
const MOST_NAME = 80, MOST_READ = 400, MOST_BESIDE = 50, MOST_WORDS_OF_CARD = 12, MOST_WITHIN = 400;
// Dates, times, prices and the like.
const CHANGING = /\d[.,:/-]\d|\d{4}|[€$£%]/;
const OTHERS = 'button, input, select, textarea, [role=button]';

const clean = text => (text || '').replace(/\s+/g, ' ').trim();
const roleOf = e => {
  const own = e.getAttribute('role')?.split(' ')[0], tag = e.localName;
  if (own) return own;
  if (tag === 'a') return e.href ? 'link' : '';
  if (tag === 'select') return e.multiple || e.size > 1 ? 'listbox' : 'combobox';
  if (tag !== 'input') return ROLES[tag] || (e.isContentEditable ? 'textbox' : '');
  return TYPES[e.type] || (e.hasAttribute('list') ? 'combobox' : e.type === 'search' ? 'searchbox' : 'textbox');
};
const content = node => {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || /^(script|style)$/.test(node.localName)) return '';
  if (node.getAttribute('aria-hidden') === 'true' || !node.checkVisibility({visibilityProperty: true})) return '';
  const inner = node.getAttribute('aria-label') || node.getAttribute('alt') || [...node.childNodes].map(content).join('');
  return getComputedStyle(node).display.startsWith('inline') ? inner : ` ${inner} `;
};
const nameOf = e => {
  const named = (e.getAttribute('aria-labelledby') || '').split(/\s+/).filter(id => id)
    .map(id => clean(e.getRootNode().getElementById?.(id)?.textContent)).join(' ');
  if (named || e.getAttribute('aria-label')) return clean(named || e.getAttribute('aria-label'));
  if (e.localName === 'input' && TYPES[e.type] === 'button') return clean(e.value || e.alt || e.title);
  const labels = clean([...e.labels || []].map(label => content(label)).join(' '));
  const words = labels || !BY_CONTENT.test(roleOf(e)) || e.textContent.length > MOST_READ ? labels : clean(content(e));
  return words || clean(e.title) || clean(e.placeholder);
};

// Returns an XPath literal, or '' for a text with both kinds of quotes.
const literal = text => !text.includes('"') ? `"${text}"` : text.includes("'") ? '' : `'${text}'`;
const itself = (e, name) => {
  const is = (attribute, value = e.getAttribute(attribute)) => value && literal(value) ? `[@${attribute}=${literal(value)}]` : '';
  const type = is(e.localName === 'input' ? 'type' : 'role');
  const text = clean(e.textContent), words = text.length <= MOST_NAME && literal(text);
  const by = text && words ? `[normalize-space()=${words}]` : e.getAttribute('aria-label') === name
    ? is('aria-label') : e.value === name && TYPES[e.type] === 'button' ? is('value', name) : '';
  return e.localName + type + by;
};
const beside = (e, name, twins) => {
  let card = e;
  for (let up = card; up && !twins.some(twin => up.contains(twin)); up = parentElement(up)) card = up;
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT), texts = [];
  for (let seen = 0; seen < MOST_WITHIN && texts.length < MOST_WORDS_OF_CARD && walker.nextNode(); seen++) {
    const around = walker.currentNode.parentElement, text = clean(walker.currentNode.data);
    if (!text || text.length > MOST_NAME || e.contains(around) || around.closest(OTHERS)) continue;
    texts.push([text, around.closest('h1, h2, h3, h4, h5, h6') ? 0 : CHANGING.test(text) ? 2 : 1]);
  }
  const own = itself(e, name);
  const said = texts.sort((a, b) => a[1] - b[1]).slice(0, 3).map(([text]) => literal(text)).filter(text => text);
  // A word that is in one row now may be in another row by then, so those that come before it are asked for as well.
  const path = (word, others) => `xpath=/descendant::text()[normalize-space()=${word}]/ancestor::*[descendant::${own}][1]`
    + `${others.map(other => `[descendant::text()[normalize-space()=${other}]]`).join('')}/descendant::${own}`;
  const rare = said.filter(isRare);
  return said.map((_, last) => said.slice(0, last + 1))
    .flatMap(words => words.filter(word => rare.includes(word)).map(word => path(word, words.filter(other => other !== word))))
    .find(each => finds(each.slice(6), e));
};
// A text that is in many places leads to many elements, and to look from each of them takes long.
const isRare = text => document.evaluate(`count(/descendant::text()[normalize-space()=${text}])`, document, null,
  XPathResult.NUMBER_TYPE, null).numberValue <= MOST_BESIDE;
const finds = (path, e) => {
  const found = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  return found.snapshotLength === 1 && found.snapshotItem(0) === e;
};

// Says whether this is the whole text, and reads no more of a large element than shows that it is not.
const hasText = (e, text) => {
  const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), enough = 2 * text.length + MOST_READ;
  for (let seen = 0; walker.nextNode();) {
    seen += walker.currentNode.data.slice(0, enough).replace(/\s+/g, '').length;
    if (seen > text.length) return false;
  }
  return clean(e.textContent) === text;
};
// Returns the place of an element, with the number of those after it: if that differs, another may have moved up.
const place = (e, root) => {
  const path = cssPath(e, root), after = [...parentElement(e)?.children ?? []].filter(each => each.localName === e.localName);
  return /:nth-of-type\(\d+\)$/.test(path) ? `${path}:nth-last-of-type(${after.length - after.indexOf(e)})` : path;
};

const selectorsOf = e => {
  const root = e.getRootNode(), role = roleOf(e), name = nameOf(e), short = name && name.length <= MOST_NAME;
  const likes = [...root.querySelectorAll(e.localName)], at = likes.indexOf(e), text = clean(e.textContent);
  const near = likes.slice(Math.max(0, at - MOST_BESIDE), at + MOST_BESIDE);
  const like = (text ? likes : near).filter(each => each !== e && hasText(each, text));
  const same = like.slice(0, 2 * MOST_BESIDE).filter(each => roleOf(each) === role && nameOf(each) === name
    && each.checkVisibility({visibilityProperty: true}));
  const alone = !same.length && like.length <= 2 * MOST_BESIDE;
  const id = TEST_IDS.find(each => e.getAttribute(each)), css = id && `[${id}=${JSON.stringify(e.getAttribute(id))}]`;
  const says = !role && text && text.length <= MOST_NAME;
  const byRole = role && short && `role=${role}[name=${JSON.stringify(name)}]`;
  const selectors = [
    alone && byRole,
    same.length && root === document && beside(e, name, same),
    css && root.querySelectorAll(css).length === 1 && css,
    says && alone && `text=${JSON.stringify(text)}`,
    !alone && byRole,
    root === document && (!alone ? ownCss(e, root) : place(e, root)),
  ];
  return {selectors: selectors.filter(selector => selector), alone};
};

// A frame may be of another origin, and a form's fields may have the names of its own properties.
export const lasting = e => {
  try {
    const frame = window === top ? '' : parent === top ? cssPath(frameElement, frameElement.getRootNode()) : null;
    return frame === null ? null : {frame, ...selectorsOf(e)};
  } catch {
    return null;
  }
};

export default lasting;
