// Returns the HTML of elements, with their own tags or without.
import {ofEach} from "./of_each.js";
import {withoutSecrets} from "./secret_field.js";

export default ofEach((e, inner) => withoutSecrets(inner ? e.innerHTML : e.outerHTML, e));
