// Returns what a person sees of an element; of SVG, which has no innerText, all of its text.
export default e => {
  const shown = e === e.ownerDocument.documentElement && e.ownerDocument.body || e;
  return shown.innerText ?? e.textContent;
};
