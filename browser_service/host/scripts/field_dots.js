// Readies a field for a secret: it is empty, and shows dots in place of its text, as a password field does, also in
// pictures; returns nothing.
import {emptied} from "./field_emptied.js";

export default e => {
  emptied(e);
  if (e.type !== 'password') e.style.setProperty('-webkit-text-security', 'disc', 'important');
};
