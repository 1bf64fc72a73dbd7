// Restores items of a storage to what they were before an act, except those that were set again since; returns the
// names of both.
export default ([kind, was, made]) => {
  const store = window[kind + 'Storage'], back = [], newer = [];
  for (const [key, value] of Object.entries(was)) {
    const now = store.getItem(key);
    if (now !== value && now !== (made[key] ?? null)) { newer.push(key); continue; }
    if (value === null) store.removeItem(key); else store.setItem(key, value);
    back.push(key);
  }
  return [back, newer];
};
