// Returns the attributes, text and HTML of an element.
import {withoutSecrets} from "./secret_field.js";
import {asSeen} from "./seen.js";
import {seenText} from "./seen_text.js";

export default asSeen(e => ({
  attributes: Object.fromEntries([...e.attributes].map(each => [each.name, each.value])),
  text: seenText(e, true),
  html: withoutSecrets(e.outerHTML, e),
}));
