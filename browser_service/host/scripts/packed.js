// Returns a function that does what another does, and gives the result as JSON text of a bounded length.
import {packed} from "./packing.js";

export default run => (first, second) => packed(() => run(first, second));
