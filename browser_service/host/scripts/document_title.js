// Returns the title of a document, or the beginning of a long one.
import {cut} from "./cut.js";

export default () => cut(document.title, 2000);
