// Pastes text or HTML into an element, and returns who took it. Like a browser, it removes scripts from what it pastes
// itself; what a page's own handler takes is the page's responsibility.
export default (e, {text, html}) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  if (html !== null) data.setData('text/html', html);
  const options = {clipboardData: data, bubbles: true, cancelable: true, composed: true};
  if (!e.dispatchEvent(new ClipboardEvent('paste', options))) return 'taken';
  if (html === null || !e.isContentEditable || !e.setHTML)
    return document.execCommand('insertText', false, text) ? 'inserted' : 'ignored';
  const clean = document.createElement('div');
  clean.setHTML(html);
  return document.execCommand('insertHTML', false, clean.innerHTML) ? 'inserted' : 'ignored';
};
