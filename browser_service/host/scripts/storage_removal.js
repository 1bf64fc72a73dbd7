// Removes items of a storage, or all, and returns what they were.
export default ([kind, keys]) => {
  const store = window[kind + 'Storage'];
  const gone = (keys ?? Object.keys(store)).map(key => [key, store.getItem(key)]).filter(([, value]) => value !== null);
  gone.forEach(([key]) => store.removeItem(key));
  return Object.fromEntries(gone);
};
