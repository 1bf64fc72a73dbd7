// Returns in words what the first field found has, as a list; an empty one if none is found.
import {control} from "./control.js";
import {shows} from "./field_text.js";

export default (found, most) => found.slice(0, 1).map(control).map(e => shows(e, most));
