// Returns the option that the keys have reached in a combobox's list, and what is shown as chosen, with its texts one by
// one. Waits a moment for the list to open, filter or close.
const WAIT_MS = 250, TURN_MS = 16, MOST_LEVELS = 6, MOST_CHARACTERS = 500, MOST_TEXTS = 100;
const FIELDS = 'input, textarea, select, [role=combobox]';

const flat = text => (text || '').replace(/[\s\u200b]+/g, ' ').trim();

const focused = root => {
  const at = root.activeElement;
  return at?.shadowRoot && focused(at.shadowRoot) || at;
};

const textsIn = (box, lists) => {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), texts = [];
  for (let seen = 0; seen < MOST_TEXTS && walker.nextNode(); seen++) {
    const {data, parentElement: up} = walker.currentNode;
    if (!lists.some(list => list.contains(up)) && up.checkVisibility({visibilityProperty: true})) texts.push(...data.split(/[,;|\u00b7]/).map(flat));
  }
  return texts;
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
  const box = boxOf(e), lists = [...box.querySelectorAll('[role=listbox]')].filter(list => list.checkVisibility());
  const text = lists.reduce((words, each) => words.replace(each.innerText, () => ''), box.innerText);
  const shown = flat(`${e.value ?? ''} ${text}`).slice(0, MOST_CHARACTERS);
  const texts = textsIn(box, lists).filter(text => text);
  return {names: names(), shown, texts, value: String(e.value ?? ''), editable: e.matches('input:not([readonly], [inputmode=none]), textarea')};
};
