// Listens to what is copied or cut next, and returns a function that returns its text and its HTML: what the page's own
// handler gives, or else what is selected. Of what is for a secret nothing is copied: pasted elsewhere it would be read.
// The clipboard of the browser, and of its person's screen, stays as it is: every page that may read it would.
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
