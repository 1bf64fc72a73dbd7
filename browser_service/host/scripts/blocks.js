// Returns an element's readable text as blocks, such as headings, paragraphs, items and rows. Each text begins with its
// heading's level, or 0. Also returns at which block the main part begins, and whether there is more.
import {flatTree} from "./flat_tree.js";
import {HIDDEN, secretsIn} from "./secret_field.js";
import {closest, matches, parentOf} from "./past_names.js";
import {UNDRAWN, MOST_TEXTS, reading, placeOf, blockOf, drawn, unseen, unseenElement, marked, skipped, asSeen} from "./seen.js";

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
  let characters = 0, texts = 0, nodes = 0, start = -1, cut = false;
  const end = () => {
    const said = level ? text.replace(/\s+/g, ' ').trim() : text.replace(/[^\S\n]*\n[^\S\n]*/g, '\n').trim();
    if (said) blocks.push(level + mark + said);
    text = mark = '';
  };
  const begin = (parent, block, heading) => {
    const around = matches(block, CELLS) ? closest(block, 'tr, [role=row]') : null;
    at = heading ?? block;
    if (around && around === row) return void (text = text.trimEnd() + ' | ');
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
    const parent = parentOf(node), keeps = parent && /^(pre|break-spaces)/.test(placeOf(parent).style.whiteSpace);
    put(parent, secretsIn(node).length ? HIDDEN : out ? marked(node.data) : keeps ? node.data : node.data.replace(/\s+/g, ' '));
  };
  const put = (parent, words) => {
    const block = parent && blockOf(parent), heading = parent && closest(parent, HEADINGS);
    if (!block) return;
    if ((heading ?? block) !== at) begin(parent, block, heading);
    text += words.slice(0, MOST_CHARACTERS - characters);
    characters += words.length;
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
    if (node.nodeType === 3 && (text || node.data.trim())) add(node);
    else if (node.nodeType === 1 && !isUndrawn(node)) {
      if (node.localName === 'br') text += '\n';
      if (mode === 'mark') putNames(node);
    }
  }
  end();
  return {blocks, start: start < 0 ? 0 : start, cut};
});
