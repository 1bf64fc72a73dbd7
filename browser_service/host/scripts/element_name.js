// Names an element for people, by its tag, its id or first class, and the start of its text.
import {cut} from "./cut.js";
import {isSecret} from "./secret_field.js";

export const quoted = text => `'${text.replace(/[\\']/g, '\\$&').replace(/\s+/g, ' ')}'`;
export const named = e => {
  if (!e?.tagName) return 'the document';
  const text = (e.getAttribute('aria-label') || (e.isContentEditable && isSecret(e) ? '' : e.innerText) || e.alt || e.placeholder || '')
    .trim().replace(/\s+/g, ' ');
  const own = e.id ? '#' + e.id : e.classList.length ? '.' + e.classList[0] : '', id = own.replace(/[\s<>']/g, '_');
  const start = text.length > 40 ? cut(text, 39) + '…' : text;
  return `<${e.tagName.toLowerCase()}${cut(id, 60)}>` + (text ? ` ${quoted(start)}` : '');
};

export default named;
