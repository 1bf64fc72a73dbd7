// Returns a function that runs another one, and returns its result as JSON text of a bounded length.
import {packed} from "./packing.js";

export default run => (first, second) => packed(() => run(first, second));
