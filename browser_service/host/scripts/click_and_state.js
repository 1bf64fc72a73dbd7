// Watches a click as click_witness does, and returns its verdict with what document_state returns afterwards, asked by
// `asked`. That is null if scripts of the page started to wait for something at the click, because it may still change.
// Also returns what the page's content security policy refused meanwhile.
import {witness} from "./click_witness.js";
import {cut} from "./cut.js";
import {ROLLS, documentState, rolls} from "./document_state.js";
import {nextNumbers} from "./page_work.js";

export default async (found, {asked, ...request}) => {
  let refused = '', rolled = 0, before;  // set at the mouse down, because the checks before it use frames themselves
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
  if (state && rolled > state[ROLLS]) state[ROLLS] = rolled;  // it may have been scrolled back to the top
  return verdict && {...verdict, refused, state: done && document.readyState === 'complete' ? state : null};
};
