// Returns the window's width and the boxes of secret fields that have a value or the focus; also how many fields there
// are, when the document began, and whether it is zoomed. Null if these cannot be matched to a picture: the document is
// not drawn yet, too large, or zoomed. `guess` is for browsers that hide closed shadow roots: there, a focused element
// that is no known control counts as secret as a whole.
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
  // Elements with a prefix are not counted, because Chromium's search, which gives the count to compare with, matches
  // whole names.
  return {
    width: innerWidth, boxes: boxes.map(({x, y, width, height}) => ({x, y, width, height})),
    fields: fields.filter(e => !e.prefix).length, began: performance.timeOrigin, zoomed,
  };
};
