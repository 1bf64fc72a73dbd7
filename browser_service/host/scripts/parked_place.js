// Returns where a page is, to be put back when its window opens again: scroll position, history, session storage; null for a
// storage that has too many characters.
export default most => {
  let storage = [], left = most;
  try { storage = Object.entries(sessionStorage) } catch {}
  for (const [key, value] of storage) left -= key.length + (typeof value === 'string' ? value.length : most);
  return {x: +scrollX, y: +scrollY, history: +history.length, storage: left < 0 ? null : storage};
};
