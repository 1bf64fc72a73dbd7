// Returns the nearest element around one that has a place on the screen; null for one that has its own.
import {around} from "./past_names.js";

const isShown = e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 0;

export default e => {
  let shown = isShown(e) ? null : around(e);
  while (shown && !isShown(shown)) shown = around(shown);
  return shown;
};
