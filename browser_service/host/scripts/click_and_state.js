// Watches a click as click_witness does, and returns with its verdict what document_state gives afterwards, as `asked`;
// null instead of that where scripts of the page began to wait for something at the click: it may change yet. Also returns
// what the page's content security policy refused meanwhile.
import {witness} from "./click_witness.js";
import {cut} from "./cut.js";
import {ROLLS, documentState, rolls} from "./document_state.js";
import {nextNumbers} from "./page_work.js";

export default async (found, {asked, ...request}) => {
  let refused = '', rolled = 0, before;  // the look at the element before the mouse goes down takes frames of its own
  const note = e => {
    if (!e.isTrusted) return;
    before ??= nextNumbers();
    rolled = rolls();
  };
  const refuse = e => { if (before && e.disposition === 'enforce') refused = cut(`${e.effectiveDirective} ${e.blockedURI}`, 160); };
  addEventListener('pointerdown', note, {capture: true, passive: true});
  addEventListener('securitypolicyviolation', refuse);
  const verdict = await witness(found, request);
  removeEventListener('pointerdown', note, {capture: true});
  const state = verdict && await documentState(asked), done = before && nextNumbers().every((n, i) => n === before[i] + 1);
  removeEventListener('securitypolicyviolation', refuse);
  if (state && rolled > state[ROLLS]) state[ROLLS] = rolled;  // it may have gone back to the top
  return verdict && {...verdict, refused, state: done && document.readyState === 'complete' ? state : null};
};
