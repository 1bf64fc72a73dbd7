// Returns the names of the options in the list that belongs to a combobox, once it has opened; waits a moment for that,
// and for an option of the given name, because a list may be searched late.
// A site's search has none, nor a search field whose options are links: these lead elsewhere.
const WAIT_MS = 1000, SEARCH_MS = 500, TURN_MS = 16, MOST = 50, MOST_CHARACTERS = 60;

export default async (e, name) => {
  if (e.closest('search, [role=search]')) return [];
  const lists = () => ['aria-controls', 'aria-owns'].map(mark => e.getRootNode().getElementById?.(e.getAttribute(mark) || ''));
  const options = () => lists().flatMap(list => [...list?.querySelectorAll('[role=option]') || []]).filter(o => o.checkVisibility());
  const flat = o => o.textContent.replace(/\s+/g, ' ').trim(), began = performance.now();
  const isDone = all => all.some(o => flat(o).toLowerCase() === name.trim().toLowerCase())
    || performance.now() - began > (all.length ? SEARCH_MS : WAIT_MS);
  while (!isDone(options())) await new Promise(then => setTimeout(then, TURN_MS));
  const found = options().slice(0, MOST);
  if (e.type === 'search' && found.some(o => o.closest('a') || o.querySelector('a'))) return [];
  return found.map(o => flat(o).slice(0, MOST_CHARACTERS));
};
