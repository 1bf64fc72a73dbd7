// Returns the names of the options in the list that belongs to a combobox, once it has opened; waits a moment for that.
// A site's search has none, nor a search field whose options are links: these lead elsewhere.
const WAIT_MS = 1000, TURN_MS = 16, MOST = 50, MOST_CHARACTERS = 60;

export default async e => {
  if (e.closest('search, [role=search]')) return [];
  const lists = () => ['aria-controls', 'aria-owns'].map(mark => e.getRootNode().getElementById?.(e.getAttribute(mark) || ''));
  const options = () => lists().flatMap(list => [...list?.querySelectorAll('[role=option]') || []]).filter(o => o.checkVisibility());
  const until = performance.now() + WAIT_MS;
  while (!options().length && performance.now() < until) await new Promise(then => setTimeout(then, TURN_MS));
  const found = options().slice(0, MOST);
  if (e.type === 'search' && found.some(o => o.closest('a') || o.querySelector('a'))) return [];
  return found.map(o => o.textContent.replace(/\s+/g, ' ').trim().slice(0, MOST_CHARACTERS));
};
