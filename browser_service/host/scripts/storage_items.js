// Returns items of a storage, or all.
export default ([kind, keys]) => {
  const store = window[kind + 'Storage'];
  return Object.fromEntries((keys ?? Object.keys(store)).map(key => [key, store.getItem(key)]));
};
