// Sends a request from a window's document, and returns the answer as fetch.js does.
import {answered} from "./fetch.js";

export default (_, request) => answered(request);
