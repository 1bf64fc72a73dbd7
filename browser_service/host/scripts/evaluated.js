// Returns what a script of a caller gives, an expression or a function, as JSON text of a bounded length. It is given as
// one text, itself or in JSON with its argument, because a page may have replaced what anything else is sent with.
import {packed} from "./packing.js";

export default (first, second) => packed(() => {
  const given = second ?? first, isWithArgument = given[0] === ' ';
  const {expression, argument = null} = isWithArgument ? JSON.parse(given) : {expression: given};
  const value = (0, eval)(expression);
  if (typeof value !== 'function') return value;
  return second ? value(first, argument) : value(argument);
});
