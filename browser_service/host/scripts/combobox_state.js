// Returns the option that the keys have reached in a combobox's list, in lower case, and what is shown as chosen. Waits
// a moment for the list to open, filter or close.
const WAIT_MS = 250, TURN_MS = 16, MOST_LEVELS = 6, MOST_CHARACTERS = 500;
const FIELDS = 'input, textarea, select, [role=combobox]';

const flat = text => (text || '').replace(/[\s\u200b]+/g, ' ').trim();

const focused = root => {
  const at = root.activeElement;
  return at?.shadowRoot && focused(at.shadowRoot) || at;
};

const active = e => {
  const root = e.getRootNode(), at = root.activeElement, moved = focused(document);
  if (moved?.matches('[role=option]')) return moved;
  return [at, e].map(each => root.getElementById?.(each?.getAttribute('aria-activedescendant') || '')).find(each => each);
};

const boxOf = e => {
  let box = e;
  for (let up = e.parentElement, n = 0; up && n < MOST_LEVELS; up = up.parentElement, n++) {
    if ([...up.querySelectorAll(FIELDS)].some(other => other !== e && other.checkVisibility() && !other.ariaHidden)) break;
    box = up;
  }
  return box;
};

export default async (e, name) => {
  const names = () => {
    const option = active(e), host = option?.getRootNode().host;
    return option ? [option.getAttribute('aria-label'), option.textContent, option.title, host?.textContent].map(flat).filter(text => text) : [];
  };
  const until = performance.now() + WAIT_MS;
  while (!names().includes(name) && performance.now() < until) await new Promise(then => setTimeout(then, TURN_MS));
  const box = boxOf(e), offered = [...box.querySelectorAll('[role=listbox]')].filter(list => list.checkVisibility()).map(list => list.innerText);
  const text = offered.reduce((words, each) => words.replace(each, () => ''), box.innerText);
  const shown = flat(`${e.value ?? ''} ${text}`).slice(0, MOST_CHARACTERS);
  return {names: names(), shown, value: String(e.value ?? ''), editable: e.matches('input:not([readonly], [inputmode=none]), textarea')};
};
