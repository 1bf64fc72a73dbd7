// Returns the HTML of an element.
import {withoutSecrets} from "./secret_field.js";

export default e => withoutSecrets(e.outerHTML, e);
