// Returns the attributes, text and HTML of an element.
import {withoutSecrets} from "./secret_field.js";
import {inMode, seenText} from "./seen.js";

export default inMode(e => ({
  attributes: Object.fromEntries([...e.attributes].map(each => [each.name, each.value])),
  text: seenText(e, true),
  html: withoutSecrets(e.outerHTML, e),
}));
