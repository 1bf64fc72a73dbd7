// Sets items of a storage, all or none, and returns what they were before.
export default ([kind, items]) => {
  const store = window[kind + 'Storage'], before = items.map(([key]) => [key, store.getItem(key)]);
  const put = ([key, value]) => value === null ? store.removeItem(key) : store.setItem(key, value);
  try {
    items.forEach(put);
  } catch (error) {
    before.forEach(put);
    throw error;
  }
  return Object.fromEntries(before);
};
