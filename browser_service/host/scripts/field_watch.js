// Waits while fields keep showing the same, for `ms` at most; not at all if the page has no scripts, or if its scripts
// have nothing left to do, which the numbers in `before` show. Returns whether these show it. What needs no time, such
// as messages and their answers, comes before a background task.
import {parentElement} from "./past_names.js";
import {nextNumbers} from "./page_work.js";

export const settled = async (fields, ms, words, before) => {
  const turn = ms => new Promise(then => setTimeout(then, ms)), all = () => fields().map(words).join('\n');
  const answers = e => e && ([...e.attributes].some(a => a.name.startsWith('on')) || answers(parentElement(e)));
  if (before && globalThis.scheduler?.postTask) {
    await scheduler.postTask(() => {}, {priority: 'background'});
  } else await turn(0);
  if (before && document.readyState === 'complete' && nextNumbers().every((n, i) => n === before[i] + 1)) return true;
  const lasts = document.scripts.length || fields().some(answers) ? ms : 0, until = performance.now() + lasts, first = all();
  while (performance.now() < until && all() === first) await turn(16);
  // What was due in this time, but waited behind a busy script, comes first.
  if (lasts && all() === first) await turn(1);
  return false;
};
