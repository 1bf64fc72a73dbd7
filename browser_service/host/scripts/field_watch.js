// Waits while fields show what they do, for some milliseconds at most, and not at all on a page that has no scripts.
export const settled = async (fields, ms, words) => {
  const turn = ms => new Promise(then => setTimeout(then, ms)), all = () => fields().map(words).join('\n');
  const answers = e => e && ([...e.attributes].some(a => a.name.startsWith('on')) || answers(e.parentElement));
  await turn(0);
  const first = all(), until = performance.now() + (document.scripts.length || fields().some(answers) ? ms : 0);
  while (performance.now() < until && all() === first) await turn(16);
};
