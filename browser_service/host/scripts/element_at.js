// Returns the element at a point of the viewport, in open shadow roots too.
export const elementAt = ([x, y]) => {
  let e = document.elementFromPoint(x, y);
  for (let inner; (inner = e?.shadowRoot?.elementFromPoint(x, y)) && inner !== e;) e = inner;
  return e;
};

export default elementAt;
