// Returns the texts that number the lines of an editor, in a column to their left and not for screen readers.
import {closest, parentOf} from "./past_names.js";
import {drawn, placeOf, texts} from "./seen.js";

export const MONO = /mono/i, NUMBER = /^\s*\d{1,6}\s*$/;

const isNumber = text => {
  const parent = parentOf(text), {fontFamily, textAlign} = placeOf(parent).style;
  return !!closest(parent, '[aria-hidden=true]') && MONO.test(fontFamily) && /^(right|end)$/.test(textAlign) && drawn(text);
};

export const lineNumbers = root => {
  const numbers = [...texts(root)].filter(text => NUMBER.test(text.data) && isNumber(text));
  const follows = (text, before) => !!text && !!before && +text.data === +before.data + 1;
  const isOnly = numbers.length === 1 && +numbers[0].data === 1;
  return new Set(numbers.filter((text, at) => isOnly || follows(text, numbers[at - 1]) || follows(numbers[at + 1], text)));
};

export default lineNumbers;
