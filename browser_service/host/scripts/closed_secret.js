// Returns whether an element is a field in a closed shadow root that shows a secret; null if it is, but its position is
// unknown.
import {shownSecret} from "./shown_secret.js";

export default e => {
  let root = e.getRootNode();
  while (root.mode === 'open') root = root.host.getRootNode();
  if (root.mode !== 'closed' || !e.matches?.('input, textarea') || !shownSecret(e)) return false;
  const {width, height} = e.getBoundingClientRect();
  return (e.currentCSSZoom ?? 1) === 1 ? width > 0 && height > 0 : null;
};
