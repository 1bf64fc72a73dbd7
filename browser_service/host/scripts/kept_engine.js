// Makes a selector engine that keeps what it is handed under a key, for the script that is called next in the same world.
// `keep` finds it too, `put` does not; `get` finds what a script has kept.
const KEPT = Symbol.for('kept'), MOST = 500;

export default () => ({queryAll: (root, body) => {
  const [verb, key] = body.split(':'), kept = self[KEPT] ??= new Map(), before = kept.get(key) ?? [];
  if (verb === 'get') return before;
  kept.set(key, before.includes(root) ? before : [...before, root]);
  if (kept.size > MOST) kept.delete(kept.keys().next().value);
  return verb === 'keep' ? [root] : [];
}});
