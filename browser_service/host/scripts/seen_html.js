// Returns the HTML of an element without its unseen texts.
import {HIDDEN, secretsIn} from "./secret_field.js";
import {UNDRAWN, seenPart, reading, texts, unseen, unseenElement} from "./seen.js";

export default seenPart(root => {
  const secrets = secretsIn(root);
  const copy = document.implementation.createHTMLDocument('').importNode(root, true);
  const copies = [...texts(copy)];
  let at = 0;
  for (const text of texts(root)) {
    const twin = copies[at++];
    if (secrets.some(field => field.contains(text))) twin.data = HIDDEN;
    if (twin.data === HIDDEN || !unseen(text) || text.parentElement?.closest(UNDRAWN)) continue;
    reading.unseen++;
    twin.data = '';
  }
  const NAMED = '[alt], [title], [aria-label]', twins = copy.querySelectorAll(NAMED);
  [...root.querySelectorAll(NAMED)].slice(0, 5000).forEach((e, number) => {
    if (!unseenElement(e)) return;
    for (const name of ['alt', 'title', 'aria-label']) twins[number].removeAttribute(name);
  });
  return copy.outerHTML ?? copy.textContent;
});
