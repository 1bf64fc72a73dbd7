// Returns how wide the window is, and where fields for a secret are in it that have the focus or a value; also how many
// fields there are, when the document began, and if it is zoomed. Null where a picture cannot be told from that: the
// document is not drawn yet, too large, or zoomed. `guess` is for browsers that show no closed roots: there what has the
// focus and is no field that anybody can see is a secret as a whole.
import {EDITABLE} from "./secret_field.js";
import {shownSecret} from "./shown_secret.js";

const MOST_FOUND = 5000;

export default ({most, undrawnMs, guess}) => {
  const within = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? own(e.shadowRoot) : []);
  const own = root => [...root.querySelectorAll(`input, textarea, ${EDITABLE}`), ...within(root)];
  const drawn = performance.getEntriesByType('paint').length > 0 || performance.now() > undrawnMs;
  const all = own(document), fields = all.filter(e => e.matches('input, textarea'));
  if (!drawn || fields.length > most || all.length > MOST_FOUND) return null;
  const shown = all.filter(shownSecret);
  if (guess) {
    let e = document.activeElement;
    while (e?.shadowRoot) e = e.shadowRoot.activeElement;
    const plain = 'input, textarea, select, button, a, summary, iframe, object, embed, video, audio, [contenteditable]';
    if (e && !e.matches(plain) && e.matches(':focus-within')) shown.push(e);
  }
  const view = visualViewport, zoomed = !!(view.scale !== 1 || view.offsetLeft || view.offsetTop);
  if (shown.length && (zoomed || shown.some(e => (e.currentCSSZoom ?? 1) !== 1))) return null;
  const boxes = shown.map(e => e.getBoundingClientRect()).filter(box => box.width > 0 && box.height > 0);
  // Those with a prefix are not counted: Chromium's search, whose count this is held against, goes by whole names.
  return {
    width: innerWidth, boxes: boxes.map(({x, y, width, height}) => ({x, y, width, height})),
    fields: fields.filter(e => !e.prefix).length, began: performance.timeOrigin, zoomed,
  };
};
