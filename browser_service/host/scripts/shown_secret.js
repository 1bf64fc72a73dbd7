// Returns whether an element is a secret field that has the focus or a value.
import {isSecret} from "./secret_field.js";

export const shownSecret = e => !!((e.value ?? e.textContent) || e.matches(':focus')) && isSecret(e);

export default shownSecret;
