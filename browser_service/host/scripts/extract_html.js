// Returns the HTML of elements, with or without their own tags.
import {ofEach} from "./of_each.js";
import {withoutSecrets} from "./secret_field.js";

export default ofEach((e, inner) => withoutSecrets(inner ? e.innerHTML : e.outerHTML, e));
