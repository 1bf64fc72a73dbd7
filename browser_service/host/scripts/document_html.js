// Returns the HTML of the document with its doctype, and with its open shadow roots as templates if requested.
import {withoutSecrets} from "./secret_field.js";

const shadowRoots = root => [...root.querySelectorAll('*')]
  .flatMap(e => e.shadowRoot ? [e.shadowRoot, ...shadowRoots(e.shadowRoot)] : []);

export default (root, shadows) => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  if (!shadows) return type + withoutSecrets(root.outerHTML, root);
  const empty = root.cloneNode(false).outerHTML, end = empty.lastIndexOf('</'), roots = shadowRoots(document);
  const html = empty.slice(0, end) + root.getHTML({shadowRoots: roots}) + empty.slice(end);
  return type + [root, ...roots].reduce((all, each) => withoutSecrets(all, each), html);
};
