// Returns what a person sees of an element; for SVG, which has no innerText, all of its text.
import {textWithFields} from "./document_parts.js";
import {seenPart} from "./seen.js";

export default seenPart(e => textWithFields(e === e.ownerDocument.documentElement && e.ownerDocument.body || e));
