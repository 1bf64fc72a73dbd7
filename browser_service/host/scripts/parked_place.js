// Returns what a reopened window needs to be where the page was: scroll position, history length, and session storage,
// which is null if it is too large.
export default most => {
  let storage = [], left = most;
  try { storage = Object.entries(sessionStorage) } catch {}
  for (const [key, value] of storage) left -= key.length + (typeof value === 'string' ? value.length : most);
  return {x: +scrollX, y: +scrollY, history: +history.length, storage: left < 0 ? null : storage};
};
