// Returns how many texts of an element are unseen.
import {inUndrawn, texts, unseen} from "./seen.js";

export default root => [...texts(root)].filter(text =>
  !inUndrawn(text) && unseen(text)).length;
