// Listens for the next copy or cut, and returns a function that returns its text and HTML: what the page's own handler
// provides, or else the selection. Nothing is copied from secret fields, because it could be read where it is pasted.
// The browser's clipboard, and the screen's, stay untouched, because every page that may read it would.
import {isSecret, secretsIn} from "./secret_field.js";

const MOST = 1000000;

const selected = field => {
  if (field?.localName === 'input' || field?.localName === 'textarea') {
    if (isSecret(field) || field.selectionStart === null) return ['', null];
    return [field.value.slice(field.selectionStart, field.selectionEnd), null];
  }
  const selection = (field?.ownerDocument || document).getSelection();
  if (!selection.rangeCount) return ['', null];
  const range = selection.getRangeAt(0), box = document.implementation.createHTMLDocument().body;
  if (secretsIn(range.commonAncestorContainer).some(secret => range.intersectsNode(secret))) return ['', null];
  box.append(range.cloneContents());
  return [`${selection}`, box.innerHTML || null];
};

export default e => {
  const end = new AbortController(), given = {}, by = {capture: true, signal: end.signal};
  let event = null, chosen = ['', null], ofPage = false;
  const hear = heard => {
    if (!heard.isTrusted) return;
    event = heard;
    chosen = selected(heard.composedPath()[0]);
    heard.preventDefault();
    heard.preventDefault = () => { ofPage = true; };
    heard.clipboardData.setData = (kind, text) => { [given[kind], ofPage] = [`${text}`, true]; };
  };
  for (const kind of ['copy', 'cut']) e.ownerDocument.defaultView.addEventListener(kind, hear, by);
  return () => {
    end.abort();
    if (event?.type === 'cut' && !ofPage) e.ownerDocument.execCommand('delete');
    const [text, html] = ofPage ? [given['text/plain'] || '', given['text/html'] || null] : chosen;
    return [text.slice(0, MOST).replace(/[\ud800-\udbff]$/, ''), html === null || html.length > MOST ? null : html];
  };
};
