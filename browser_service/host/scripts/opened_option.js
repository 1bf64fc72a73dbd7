// Returns the option of a name in the list that a combobox has opened, else the field to which the focus moved, by which
// that list is searched; waits `ms` milliseconds for either, or in the `search` for the option alone. The list is the one
// that the combobox or the field names, else what was not visible before: it begins by noting that, and gives the
// combobox the focus.
const TURN_MS = 16, OPENED = Symbol.for('opened');

const focused = root => root.activeElement?.shadowRoot ? focused(root.activeElement.shadowRoot) : root.activeElement;
const visible = root => [...root.querySelectorAll('*')].flatMap(e => [
  ...e.matches('[role=option]') && e.checkVisibility({visibilityProperty: true}) ? [e] : [],
  ...e.shadowRoot ? visible(e.shadowRoot) : [],
]);

export default async (e, [name, ms, step]) => {
  const opened = self[OPENED] ??= new WeakMap();
  if (step === 'begin') {
    const options = e.getAttribute('aria-expanded') === 'true' ? [] : visible(document);
    e.focus();
    opened.set(e, {options, focus: focused(document)});
    return null;
  }
  const before = opened.get(e) ?? {options: [], focus: null}, field = step === 'search' ? before.field : null;
  const flat = text => text.replace(/\s+/g, ' ').trim().toLowerCase();
  const search = () => [focused(document)].find(at => at?.matches('input, textarea') && at !== e && at !== before.focus);
  const find = () => {
    const named = [e, field ?? search()].flatMap(each => ['aria-controls', 'aria-owns']
      .map(mark => each?.getRootNode().getElementById?.(each.getAttribute(mark) || '')));
    const all = visible(document), own = all.filter(option => named.some(list => list?.contains(option)));
    return (own.length ? own : all.filter(option => !before.options.includes(option)))
      .find(option => flat(option.textContent) === flat(name));
  };
  const look = () => find() ?? (field ? null : search());
  const until = performance.now() + ms;
  while (!look() && performance.now() < until) await new Promise(then => setTimeout(then, TURN_MS));
  before.field = field ?? (find() ? null : search());
  return look() ?? null;
};
