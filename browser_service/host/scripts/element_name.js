// Names an element by its tag, its id or first class and the start of its text, for a person to read.
export const named = e => {
  if (!e?.tagName) return 'the document';
  const text = (e.getAttribute('aria-label') || e.innerText || e.alt || e.placeholder || '')
    .trim().replace(/\s+/g, ' ');
  const id = e.id ? '#' + e.id : e.classList.length ? '.' + e.classList[0] : '';
  return `<${e.tagName.toLowerCase()}${id}>` + (text ? ` '${text.length > 40 ? text.slice(0, 39) + '…' : text}'` : '');
};

export default named;
