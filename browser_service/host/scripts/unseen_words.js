// Returns the texts and names of a document that are drawn but unseen, unless the same text is seen elsewhere, and
// each of its frames' name and whether it is unseen. It judges a limited number of texts, and takes the others for seen.
import {cut} from "./cut.js";
import {boxOfElement, matches} from "./past_names.js";
import {skipped, texts, unseen, unseenElement} from "./seen.js";

const MOST_MS = 1000, MOST_TEXTS_READ = 5000, MOST_WORDS = 1000, MOST_CHARACTERS = 300, MOST_NAMED = 2000;
// Faint controls are listed, as some appear only under the mouse, and so are inputs for files, which take them unseen.
// So are their names, if they are no longer than names are, and those of what takes the keys for an editor.
const WORKED = 'input, select, textarea, button, a[href], [role=button], [role=link], [role=checkbox], [role=radio], '
  + '[role=switch], [role=tab], [role=combobox], [role=menuitem], [role=option]', NAME_CHARACTERS = 120;

export const unseenWords = document => {
  const until = performance.now() + MOST_MS, words = new Set(), seen = [];
  let left = MOST_TEXTS_READ;
  const flat = text => text.replace(/[\u200b\u00ad]/g, '').replace(/\s+/g, ' ').trim();
  const note = (text, why) => { if (text) why ? words.add(text) : seen.push(text); };
  const read = root => {
    for (const text of texts(root)) {
      if (!left-- || performance.now() > until) return;
      const why = unseen(text);
      if (why !== 'undrawn' || skipped(text)) note(flat(text.data), why);
    }
    for (const e of [...root.querySelectorAll('[aria-label], [alt], [title], [placeholder]')].slice(0, MOST_NAMED)) {
      const box = boxOfElement(e), why = (box.width || box.height) && unseenElement(e);
      const drawn = (/faint|cut/.test(why) || matches(e, '[type=file]')) && matches(e, WORKED) && box.width > 4 && box.height > 4;
      const worked = drawn || !!e.editContext;
      for (const name of ['aria-label', 'alt', 'title', 'placeholder']) {
        const text = flat(e.getAttribute(name) ?? '');
        note(text, worked && text.length <= NAME_CHARACTERS ? '' : why);
      }
    }
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) read(e.shadowRoot);
  };
  const frame = window.frameElement;
  if (innerWidth < 2 || innerHeight < 2 || (frame && unseenElement(frame))) return {words: [], frames: [], all: true};
  read(document);
  const all = seen.join('\n'), found = [...words].slice(0, MOST_WORDS).filter(text => !all.includes(text));
  const frames = [...document.querySelectorAll('iframe, frame')].filter(e => e.getClientRects().length
    && getComputedStyle(e).visibility === 'visible' && !e.closest('[aria-hidden=true]'));
  return {
    words: found.map(text => text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\u2026` : text),
    frames: frames.map(e => [!!unseenElement(e), cut(flat(e.getAttribute('aria-label') || e.title), NAME_CHARACTERS)]),
    all: false,
  };
};

export default unseenWords;
