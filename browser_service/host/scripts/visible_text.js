// Returns what a person sees of an element; for SVG, which has no innerText, all of its text.
import {seenText, seenPart} from "./seen.js";

export default seenPart(e => seenText(e === e.ownerDocument.documentElement && e.ownerDocument.body || e));
