// Focuses an element, and throws if keys would not reach it.
export default (e, types) => {
  const focused = () => e.contains(e.getRootNode().activeElement);
  if (e.matches(':disabled')) throw new Error('it is disabled');
  if (!e.checkVisibility()) throw new Error('it is not visible');
  if (types && e.readOnly) throw new Error('it is read-only');
  const had = focused();
  e.focus();
  if (types && !focused()) throw new Error('it takes no keys');
  if (types && !had) getSelection().modify('move', 'forward', 'documentboundary');
};
