// Returns an element's readable text as blocks, such as headings, paragraphs, items and rows. Each text begins with its
// heading's level, or 0. Also returns at which block the main part begins, and whether there is more.
import {fieldWords} from "./document_parts.js";
import {flatTree} from "./flat_tree.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {closest, matches, parentOf} from "./past_names.js";
import {UNDRAWN, MOST_TEXTS, reading, blockOf, drawn, keepsBlanks, unseen, unseenElement, marked, skipped, asSeen} from "./seen.js";
import {collapsed} from "./seen_text.js";

const MOST_NODES = 300000, MOST_BLOCKS = 20000, MOST_CHARACTERS = 1000000;
const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading]';
const CELLS = 'td, th, [role=cell], [role=gridcell], [role=columnheader], [role=rowheader]';

const NAMES = ['alt', 'aria-label', 'title', 'placeholder'];

const levelOf = heading => heading ? Math.min(6, +(/^h([1-6])$/.exec(heading.localName)?.[1]
  ?? heading.getAttribute('aria-level')) || 2) : 0;

export default asSeen((root, mode) => {
  const blocks = [], hidden = !(root.checkVisibility?.() ?? true);
  const main = root.querySelector?.('main, [role=main], article');
  let at = null, row = null, item = null, mark = '', text = '', level = 0;
  let characters = 0, texts = 0, nodes = 0, start = -1, cut = false, isBlank = true;
  const end = () => {
    const said = level ? text.replace(/\s+/g, ' ').trim() : text.replace(/[^\S\n]+\n/g, '\n').replace(/^\n+/, '').trimEnd();
    if (said) blocks.push(level + mark + said);
    text = mark = '';
    isBlank = true;
  };
  const begin = (parent, block, heading) => {
    const around = matches(block, CELLS) ? closest(block, 'tr, [role=row]') : null;
    at = heading ?? block;
    if (around && around === row) return void (isBlank = true, text = text.trimEnd() + ' | ');
    end();
    row = around, level = levelOf(heading);
    const outer = closest(block, 'li, [role=listitem]');
    if (outer && outer !== item && !level) mark = '- ';
    item = outer;
    if (start < 0 && main?.contains(parent)) start = blocks.length;
  };
  const add = node => {
    const judged = texts++ < MOST_TEXTS && !hidden, out = judged ? unseen(node) : '';
    if (out === 'undrawn' ? !skipped(node) : !hidden && !out && !drawn(node)) return;
    if (out) reading.unseen++;
    if (out && mode !== 'mark') return;
    const parent = parentOf(node), keeps = parent && keepsBlanks(parent);
    put(parent, secretsIn(node).length ? HIDDEN : out ? marked(node.data) : keeps ? node.data : collapsed(node.data), keeps);
  };
  const put = (parent, words, keeps) => {
    const block = parent && blockOf(parent), heading = parent && closest(parent, HEADINGS);
    if (!block) return;
    if ((heading ?? block) !== at) begin(parent, block, heading);
    const written = isBlank && !keeps ? words.replace(/^ +/, '') : words;
    text += written.slice(0, MOST_CHARACTERS - characters);
    characters += written.length;
    if (written) isBlank = /\s/.test(written.at(-1));
  };
  const putNames = e => {
    const names = NAMES.flatMap(name => e.getAttribute(name)?.trim() || []), {width, height} = e.getBoundingClientRect();
    if (!names.length || !(width || height) || !unseenElement(e)) return;
    reading.unseen += names.length;
    for (const name of names) put(e, marked(name));
  };
  const isUndrawn = e => matches(e, UNDRAWN);
  for (const node of flatTree(root, isUndrawn)) {
    cut = nodes++ >= MOST_NODES || blocks.length >= MOST_BLOCKS || characters >= MOST_CHARACTERS;
    if (cut) break;
    if (node.nodeType === 3 && (text || node.data.trim() || keepsBlanks(parentOf(node)))) add(node);
    else if (node.nodeType === 1) {
      const words = fieldWords(node);
      if (words) put(matches(node, '[role]') ? node : parentOf(node), ` ${words} `);
      if (isUndrawn(node)) continue;
      if (node.localName === 'br') isBlank = true, text += '\n';
      if (mode === 'mark') putNames(node);
    }
  }
  end();
  return {blocks, start: start < 0 ? 0 : start, cut};
});
