// Returns one of the boxes of one character each that take a text of several together, by its number from the given box
// on; null if there are fewer than the text has characters.
import {formControl} from "./form_control.js";

const BOX_LEVELS = 8, MOST_BOXES = 12;

const isBox = e => (e.maxLength === 1 || e.size === 1) && /^(text|tel|number|password|search)$/.test(e.type)
  && !e.disabled && !e.readOnly && e.checkVisibility({visibilityProperty: true});

export const boxesFrom = (given, count) => {
  const first = formControl(given);
  if (!first.matches('input') || !isBox(first)) return [];
  for (let up = first.parentElement, level = 0; up && level < BOX_LEVELS; up = up.parentElement, level++) {
    const all = [...up.querySelectorAll('input')].filter(e => e.type !== 'hidden'), at = all.indexOf(first);
    const rest = all.slice(at, at + count);
    if (rest.length === count) return rest.every(e => isBox(e) && e.offsetWidth === first.offsetWidth) ? rest : [];
  }
  return [];
};

export const boxCount = given => {
  let count = 0;
  while (count < MOST_BOXES && boxesFrom(given, count + 1).length) count++;
  return count;
};

export const codeBox = (given, [count, number]) => boxesFrom(given, count)[number] ?? null;

export default codeBox;
