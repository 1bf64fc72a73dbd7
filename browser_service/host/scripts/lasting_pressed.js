// Returns how the element is found again on which the mouse goes down next; null if it does not within `ms`. It answers
// before the click, which may end the document.
import {lasting} from "./lasting.js";

const WITHIN = 'button, [role=button], a, [role=link]';

export default (found, ms) => new Promise(tell => {
  const off = new AbortController(), end = result => { off.abort(); tell(result); };
  const meant = e => e.matches('input, textarea, select') || e.isContentEditable ? e : e.closest(WITHIN) || e;
  addEventListener('pointerdown', e => { if (e.isTrusted) end(lasting(meant(e.composedPath()[0]))); },
    {capture: true, passive: true, signal: off.signal});
  setTimeout(() => end(null), ms);
});
