// Returns the attributes, text and HTML of an element.
import {inMode, seenText} from "./seen.js";

export default inMode(e => ({
  attributes: Object.fromEntries([...e.attributes].map(each => [each.name, each.value])),
  text: seenText(e, true),
  html: e.outerHTML,
}));
