// Returns the focused element, in open shadow roots too.
export default () => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e || document.documentElement;
};
