// Returns how many texts of an element are unseen.
import {UNDRAWN, texts, unseen} from "./seen.js";

export default root => [...texts(root)].filter(text =>
  !text.parentElement?.closest(UNDRAWN) && unseen(text)).length;
