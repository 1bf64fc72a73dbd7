// Returns when a frame's document began, what was typed in it as a password, and what nobody sees of it.
import {unseenWords} from "./unseen_words.js";

export default (e, mode) => {
  const within = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [...own(e.shadowRoot)] : []);
  const own = root => [...root.querySelectorAll('input[type=password]'), ...within(root)];
  const unseen = mode === 'keep' ? null : unseenWords(e.ownerDocument);
  return [performance.timeOrigin, own(e.ownerDocument).map(e => e.value), unseen];
};
