// Returns the HTML of elements, with their own tags or without.
import {ofEach} from "./of_each.js";

export default ofEach((e, inner) => inner ? e.innerHTML : e.outerHTML);
