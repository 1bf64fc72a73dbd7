// Sends a request from the document of a window, and returns the answer as fetch.js does.
import {answered} from "./fetch.js";

export default (_, request) => answered(request);
