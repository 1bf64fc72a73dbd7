// Returns the role of what a click on an element, or Enter in it, sets off, and all words by which people know it.
import {control} from "./control.js";

const ROLES = {a: 'link', button: 'button', select: 'combobox', textarea: 'textbox', summary: 'button', option: 'option'};
const BUTTONS = ['submit', 'button', 'reset', 'image'];
const MOST = 500;

const roleOf = e => e.getAttribute('role') || (e.localName !== 'input' ? ROLES[e.localName] || e.localName
  : BUTTONS.includes(e.type) ? 'button' : ['checkbox', 'radio'].includes(e.type) ? e.type : 'textbox');

const wordsOf = e => {
  const byId = (e.getAttribute('aria-labelledby') || '').split(/\s+/).slice(0, 5).filter(id => id)
    .map(id => e.getRootNode().getElementById?.(id)?.textContent);
  const pictures = [...e.querySelectorAll('img[alt], [aria-label], title')].slice(0, 5)
    .map(p => p.getAttribute('alt') || p.getAttribute('aria-label') || p.textContent);
  const own = e.localName === 'input' && BUTTONS.includes(e.type) ? e.value || e.alt : '';
  const labels = [...e.labels || []].slice(0, 5).map(label => label.textContent);
  return [e.getAttribute('aria-label'), ...byId, (e.innerText || e.textContent || '').slice(0, MOST), own,
    e.getAttribute('title'), ...labels, ...pictures].filter(text => text).join(' · ').slice(0, MOST);
};

export default (e, entered) => {
  let found = control(e);
  if (entered && found.form && found.localName === 'input' && !BUTTONS.includes(found.type)) found = found.form.querySelector('button:not([type]), [type=submit], [type=image]') || found;
  return {role: roleOf(found), words: wordsOf(found)};
};
