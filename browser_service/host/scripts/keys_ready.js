// Focuses an element, or the editor that it is a part of, and throws if keys would not reach it. Returns whether it is
// such a part, which only counts with `parts`. The caret is in it then, at its end if it was elsewhere.
export default (e, [types, parts]) => {
  let field = e;
  while (parts && field.isContentEditable && field.parentElement?.isContentEditable) field = field.parentElement;
  const focused = () => field.contains(field.getRootNode().activeElement);
  if (e.matches(':disabled')) throw new Error('it is disabled');
  if (!e.checkVisibility()) throw new Error('it is not visible');
  if (types && e.readOnly) throw new Error('it is read-only');
  const had = focused(), caret = getSelection();
  field.focus();
  if (types && !focused()) throw new Error('it takes no keys');
  if (field !== e && !(had && e.contains(caret.anchorNode))) {
    caret.selectAllChildren(e);
    caret.collapseToEnd();
  } else if (types && !had) {
    caret.modify('move', 'forward', 'documentboundary');
  }
  return field !== e;
};
