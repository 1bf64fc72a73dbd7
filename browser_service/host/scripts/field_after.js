// Turns a function of a field into one that returns its result after an act, with what the field then shows in words,
// once the page's scripts have had their turn, and its workers `ms` milliseconds. With `awaited`, it is called before the
// act, and waits for that event at the field, or for `over` at the window, which says that there was none; it returns null if
// there was no field. Without a field, it takes the one where the event `meant` comes first.
import {control} from "./control.js";
import {keyReleased} from "./key_released.js";
import {settled} from "./field_watch.js";
import {shows} from "./field_text.js";
import {nextNumbers} from "./page_work.js";

export default look => async (found, [ms, most, awaited, keys]) => {
  const fields = () => found.slice(0, 1).filter(e => e.isConnected).map(control), words = e => shows(e, most);
  const off = new AbortController(), before = awaited && nextNumbers();
  const is = e => e.composedPath().some(n => n === found[0] || n === fields()[0]);
  if (awaited && !awaited.meant && !fields()[0]) return null;
  const seen = awaited && await new Promise(then => {
    const on = (kind, act) => addEventListener(kind, act, {capture: true, signal: off.signal});
    if (awaited.meant) on(awaited.meant, e => { found = [e.composedPath()[0]]; });
    on(awaited.over, () => then(false));
    on(awaited.event, e => { if (is(e)) then(true); });
  });
  off.abort();
  if (seen) await globalThis.scheduler?.postTask(() => {});
  if (keys && (seen || !awaited)) fields().forEach(keyReleased);
  const idle = await settled(fields, ms, words, seen && before);
  return fields().map(e => ({value: look(e), shows: words(e), idle}));
};
