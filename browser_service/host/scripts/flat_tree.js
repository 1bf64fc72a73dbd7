// Reads elements in the order in which people see them: open shadow trees in place of their hosts' own content, and
// slotted nodes in their slots.
import {shadowOf} from "./past_names.js";

const listed = (nodes, at = 0) => () => nodes[at++];
const siblings = node => () => { const next = node; node = node?.nextSibling; return next; };

// Yields a node and all nodes in it, but none in the elements that it skips.
export const flatTree = function* (root, skips = () => false) {
  const left = [listed([root])];
  while (left.length) {
    const node = left.at(-1)();
    if (!node) left.pop();
    else {
      yield node;
      if (node.nodeType !== 1 || skips(node)) continue;
      const slotted = node.localName === 'slot' ? node.assignedNodes() : [];
      left.push(slotted.length ? listed(slotted) : siblings((shadowOf(node) ?? node).firstChild));
    }
  }
};

let known;
export const documentHasShadows = () => known ??= [...document.querySelectorAll('*')].some(shadowOf);
export const hasShadows = e => documentHasShadows() && [e, ...e.querySelectorAll('*')].some(shadowOf);
