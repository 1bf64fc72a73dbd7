// Returns the result of a caller's script, an expression or function, as JSON text of a bounded length. The script
// comes as one text, alone or in JSON with its argument, because a page may have replaced the functions that anything
// else would need.
import {packed} from "./packing.js";

export default (first, second) => packed(() => {
  const given = second ?? first, isWithArgument = given[0] === ' ';
  const {expression, argument = null} = isWithArgument ? JSON.parse(given) : {expression: given};
  const value = (0, eval)(expression);
  if (typeof value !== 'function') return value;
  return second ? value(first, argument) : value(argument);
});
