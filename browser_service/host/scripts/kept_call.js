// Turns a function into one that is called with what was kept under `keys`: with the first element of it, or `all` as a
// list. A function `alone` is called in the document, without keys only if that has a root. It throws if what was kept
// is not here, and with a key as `given` it keeps the element that the function gives, and says whether it gave any.
import {kept} from "./kept.js";

const refuse = () => { throw 'what was kept is not here'; };

export default (look, on) => (keys, argument, given) => {
  if (on === 'alone' && !keys.length && !document.documentElement) refuse();
  const found = on === 'alone' ? [] : keys.flatMap(key => kept().get(key) ?? refuse());
  const run = () => on === 'alone' ? look(argument) : look(on === 'all' ? found : found[0], argument);
  if (!given) return run();
  return (async () => {
    const e = await run();
    if (e) kept().set(given, [e]);
    return Boolean(e);
  })();
};
