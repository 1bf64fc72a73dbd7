// Returns whether an element is a field for a secret that has the focus or a value. One for a password stays one where the
// page shows what is in it, as many do at a click on an eye.
import {field} from "./field.js";

const ONCE = Symbol.for('fields for a password');

export const shownSecret = e => {
  const once = document[ONCE] ??= new WeakSet();
  if (e.type === 'password') once.add(e);
  return !!(e.value || e.matches(':focus')) && (once.has(e) || field(e).secret);
};

export default shownSecret;
