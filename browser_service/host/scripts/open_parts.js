// Returns how many elements lie directly in open shadow roots.
import {shadowOf} from "./past_names.js";

const partsIn = root => [...root.querySelectorAll('*')].map(shadowOf).filter(Boolean)
  .reduce((count, shadow) => count + shadow.childElementCount + partsIn(shadow), 0);

export default () => partsIn(document);
