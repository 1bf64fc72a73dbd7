// Returns whether an element is a field for a secret that has the focus or a value.
import {field} from "./field.js";

export const shownSecret = e => !!(e.value || e.matches(':focus')) && field(e).secret;

export default shownSecret;
