// Prepares a field for a secret: empties it, and shows dots in place of text, as password fields do, also in pictures;
// returns nothing.
import {emptied} from "./field_emptied.js";

export default e => {
  emptied(e);
  if (e.type !== 'password') e.style.setProperty('-webkit-text-security', 'disc', 'important');
};
