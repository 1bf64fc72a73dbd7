// Returns the HTML of an element without its unseen texts, or with these marked.
import {HIDDEN, secretsIn} from "./secret_field.js";
import {UNDRAWN, textInMode, reading, texts, unseen, unseenElement} from "./seen.js";

export default textInMode(root => {
  const secrets = secretsIn(root);
  if (reading.mode === 'keep' && !secrets.length) return root.outerHTML ?? root.textContent;
  const copy = document.implementation.createHTMLDocument('').importNode(root, true);
  const copies = [...texts(copy)];
  let at = 0;
  for (const text of texts(root)) {
    const twin = copies[at++];
    if (secrets.some(field => field.contains(text))) twin.data = HIDDEN;
    if (reading.mode === 'keep' || twin.data === HIDDEN || !unseen(text) || text.parentElement?.closest(UNDRAWN)) continue;
    reading.unseen++;
    twin.data = reading.mode === 'mark' ? `⟦not seen on the page: ${text.data}⟧` : '';
  }
  const NAMED = '[alt], [title], [aria-label]', twins = copy.querySelectorAll(NAMED);
  [...root.querySelectorAll(NAMED)].slice(0, 5000).forEach((e, number) => {
    if (reading.mode !== 'drop' || !unseenElement(e)) return;
    for (const name of ['alt', 'title', 'aria-label']) twins[number].removeAttribute(name);
  });
  return copy.outerHTML ?? copy.textContent;
});
