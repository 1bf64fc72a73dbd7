// Returns an element's readable text as blocks, such as headings, paragraphs, items and rows. Each text begins with its
// heading's level, or 0. Also returns at which block the main part begins, and whether there is more.
import {HIDDEN, secretsIn} from "./secret_field.js";
import {parentOf} from "./past_names.js";
import {UNDRAWN, MOST_TEXTS, reading, placeOf, blockOf, drawn, unseen, unseenElement, marked, asSeen} from "./seen.js";

const MOST_NODES = 300000, MOST_BLOCKS = 20000, MOST_CHARACTERS = 1000000;
const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role=heading]';
const CELLS = 'td, th, [role=cell], [role=gridcell], [role=columnheader], [role=rowheader]';

const NAMES = ['alt', 'aria-label', 'title', 'placeholder'];

const listed = (nodes, at = 0) => () => nodes[at++];
const siblings = node => () => { const next = node; node = node?.nextSibling; return next; };
const levelOf = heading => heading ? Math.min(6, +(/^h([1-6])$/.exec(heading.localName)?.[1]
  ?? heading.getAttribute('aria-level')) || 2) : 0;

export default asSeen((root, mode) => {
  const blocks = [], hidden = !(root.checkVisibility?.() ?? true), left = [listed([root])];
  const main = root.querySelector?.('main, [role=main], article');
  let at = null, row = null, item = null, mark = '', text = '', level = 0;
  let characters = 0, texts = 0, nodes = 0, start = -1;
  const end = () => {
    const said = level ? text.replace(/\s+/g, ' ').trim() : text.replace(/[^\S\n]*\n[^\S\n]*/g, '\n').trim();
    if (said) blocks.push(level + mark + said);
    text = mark = '';
  };
  const begin = (parent, block, heading) => {
    const around = block.matches(CELLS) ? block.closest('tr, [role=row]') : null;
    at = heading ?? block;
    if (around && around === row) return void (text = text.trimEnd() + ' | ');
    end();
    row = around, level = levelOf(heading);
    const outer = block.closest('li, [role=listitem]');
    if (outer && outer !== item && !level) mark = '- ';
    item = outer;
    if (start < 0 && main?.contains(parent)) start = blocks.length;
  };
  const add = node => {
    const judged = texts++ < MOST_TEXTS && !hidden, out = judged ? unseen(node) : '';
    if (out === 'undrawn' || (!hidden && !out && !drawn(node))) return;
    if (out) reading.unseen++;
    if (out && mode !== 'mark') return;
    const parent = parentOf(node), keeps = parent && /^(pre|break-spaces)/.test(placeOf(parent).style.whiteSpace);
    put(parent, secretsIn(node).length ? HIDDEN : out ? marked(node.data) : keeps ? node.data : node.data.replace(/\s+/g, ' '));
  };
  const put = (parent, words) => {
    const block = parent && blockOf(parent), heading = parent?.closest(HEADINGS);
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
  while (left.length && nodes++ < MOST_NODES && blocks.length < MOST_BLOCKS && characters < MOST_CHARACTERS) {
    const node = left.at(-1)();
    if (!node) left.pop();
    else if (node.nodeType === 3 && (text || node.data.trim())) add(node);
    else if (node.nodeType === 1 && !node.matches(UNDRAWN)) {
      if (node.localName === 'br') text += '\n';
      if (mode === 'mark') putNames(node);
      const slotted = node.localName === 'slot' ? node.assignedNodes() : [];
      left.push(slotted.length ? listed(slotted) : siblings((node.shadowRoot ?? node).firstChild));
    }
  }
  end();
  return {blocks, start: start < 0 ? 0 : start, cut: left.length > 0};
});
