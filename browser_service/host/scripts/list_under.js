// Returns the drop-down list at a point of the window, whose options the browser shows outside the page; null if none
// could be opened there.
const MOST_STEPS = 20;

export default ({ x, y }) => {
  let root = document, left = 0, top = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const found = root.elementFromPoint(x - left, y - top);
    if (found?.shadowRoot && found.shadowRoot !== root) root = found.shadowRoot;
    else if (found?.localName === "iframe" && found.contentDocument) {
      const box = found.getBoundingClientRect();
      left += box.x + found.clientLeft;
      top += box.y + found.clientTop;
      root = found.contentDocument;
    } else return found?.localName === "select" && !found.multiple && found.size < 2 && !found.matches(":disabled") ? found : null;
  }
  return null;
};
