// Returns CSS that finds an element of a document or shadow root, and nothing else there: by its id, name or label, else
// by its place.
import {parentElement} from "./past_names.js";

const inQuotes = text => JSON.stringify(String(text));
const only = (root, css) => css && root.querySelectorAll(css).length === 1 ? css : null;
export const ownCss = (e, root) => only(root, e.id && '#' + CSS.escape(e.id))
  || only(root, e.getAttribute('name') && `${e.localName}[name=${inQuotes(e.getAttribute('name'))}]`)
  || only(root, e.getAttribute('name') && `${e.localName}[name=${inQuotes(e.getAttribute('name'))}]`
    + `[value=${inQuotes(e.getAttribute('value'))}]`)
  || only(root, e.getAttribute('aria-label') && `${e.localName}[aria-label=${inQuotes(e.getAttribute('aria-label'))}]`);

export const cssPath = (e, root) => {
  const own = ownCss(e, root), above = parentElement(e);
  if (own || !above) return own || e.localName;
  const alike = [...above.children].filter(other => other.localName === e.localName);
  return `${cssPath(above, root)} > ${e.localName}:nth-of-type(${alike.indexOf(e) + 1})`;
};
