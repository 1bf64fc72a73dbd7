// Returns whether an element is a field for a secret that has the focus, or anything in it.
import {isSecret} from "./secret_field.js";

export const shownSecret = e => !!((e.value ?? e.textContent) || e.matches(':focus')) && isSecret(e);

export default shownSecret;
