// Returns tag, text and visibility of the first elements found, to tell them apart.
import {cut} from "./cut.js";
import {plainValue} from "./secret_field.js";
import {asSeen} from "./seen.js";
import {seenText} from "./seen_text.js";

export default asSeen((elements, most) => elements.slice(0, most).map(e => ({
  tag: e.tagName.toLowerCase(),
  text: cut((e.getAttribute('aria-label') || seenText(e, true) || plainValue(e) || '').trim().replace(/\s+/g, ' '), 80),
  visible: e.checkVisibility ? e.checkVisibility() : true,
})));
