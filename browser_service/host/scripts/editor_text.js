// Returns what an element's editor shows, and whether that has the first lines of the entered text. Waits for these a
// moment.
import {cut} from "./cut.js";
import {lineNumbers} from "./line_numbers.js";
import {reading} from "./seen.js";
import {seenText} from "./seen_text.js";

const WAIT_MS = 500, TURN_MS = 16, MOST_LEVELS = 8, MOST_LINES = 3, MOST_CHARACTERS = 120;

const editorOf = e => {
  for (let up = e, level = 0; up && level < MOST_LEVELS; up = up.parentElement, level++) {
    const {width, height} = up.getBoundingClientRect();
    if (width > 40 && height > 10 && up.innerText.trim() && !up.matches('textarea')) return up;
  }
  return e;
};

export default async (e, text) => {
  reading.judged = true;
  const close = shown => shown.replace(/[\s\u200b\u00b7]+/g, '');
  const lines = text.split('\n').map(close).filter(line => line).slice(0, MOST_LINES);
  const look = () => {
    const editor = editorOf(e), numbers = [...lineNumbers(editor)].map(text => [text, '']);
    const shown = seenText(editor, false, new Map(numbers)).replace(/\u00a0/g, ' ').trim();
    return {shown: cut(shown, MOST_CHARACTERS), shows: lines.every(line => close(shown).includes(line))};
  };
  const until = performance.now() + WAIT_MS;
  let seen = look();
  while (!seen.shows && performance.now() < until) {
    await new Promise(then => setTimeout(then, TURN_MS));
    seen = look();
  }
  return seen;
};
