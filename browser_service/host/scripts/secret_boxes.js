// Returns how wide the window is, and where fields for a secret are in it that have the focus or a value. Null where a
// picture cannot be told from that: the document is not drawn yet, too large, or zoomed.
import {field} from "./field.js";

export default ({most, undrawnMs}) => {
  const within = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? own(e.shadowRoot) : []);
  const own = root => [...root.querySelectorAll('input, textarea'), ...within(root)];
  const drawn = performance.getEntriesByType('paint').length > 0 || performance.now() > undrawnMs;
  const fields = own(document);
  if (!drawn || fields.length > most) return null;
  const shown = fields.filter(e => (e.value || e.matches(':focus')) && field(e).secret);
  const view = visualViewport, zoomed = view.scale !== 1 || view.offsetLeft || view.offsetTop;
  if (shown.length && (zoomed || shown.some(e => (e.currentCSSZoom ?? 1) !== 1))) return null;
  const boxes = shown.map(e => e.getBoundingClientRect()).filter(box => box.width > 0 && box.height > 0);
  return {width: innerWidth, boxes: boxes.map(({x, y, width, height}) => ({x, y, width, height}))};
};
