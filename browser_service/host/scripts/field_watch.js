// Gives the page's scripts their turn, then waits while fields keep showing the same, for `ms` at most. Returns whether the
// scripts have nothing left to do, which the numbers in `before` show. What needs no time, such as messages and their
// answers, comes before a background task.
import {nextNumbers} from "./page_work.js";

export const settled = async (fields, ms, words, before) => {
  const turn = ms => new Promise(then => setTimeout(then, ms)), all = () => fields().map(words).join('\n');
  if (globalThis.scheduler?.postTask) await scheduler.postTask(() => {}, {priority: 'background'});
  else await turn(0);
  if (before && document.readyState === 'complete' && nextNumbers().every((n, i) => n === before[i] + 1)) return true;
  const until = performance.now() + ms, first = all();
  while (performance.now() < until && all() === first) await turn(16);
  return false;
};
