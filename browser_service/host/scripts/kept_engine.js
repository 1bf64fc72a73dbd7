// Makes a selector engine that keeps what it is handed under a key, for the script that is called next in the same world.
// `keep` finds it too, `put` does not; `get` finds what a script has kept.
import {kept} from "./kept.js";

const MOST = 500;

export default () => ({queryAll: (root, body) => {
  const [verb, key] = body.split(':'), all = kept(), before = all.get(key) ?? [];
  if (verb === 'get') return before;
  all.set(key, before.includes(root) ? before : [...before, root]);
  if (all.size > MOST) all.delete(all.keys().next().value);
  return verb === 'keep' ? [root] : [];
}});
