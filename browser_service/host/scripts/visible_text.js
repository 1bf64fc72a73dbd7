// Returns what a person sees of an element; for SVG, which has no innerText, all of its text.
import {seenText, textInMode} from "./seen.js";

export default textInMode(e => seenText(e === e.ownerDocument.documentElement && e.ownerDocument.body || e));
