// Watches a click as click_witness does, and returns with its verdict what document_state gives afterwards, as `asked`;
// null instead of that where scripts of the page began to wait for something at the click: it may change yet.
import {witness} from "./click_witness.js";
import {documentState} from "./document_state.js";
import {nextNumbers} from "./page_work.js";

export default async (found, {asked, ...request}) => {
  let before;  // the look at the element before the mouse goes down takes frames of its own
  const note = e => { if (e.isTrusted) before ??= nextNumbers(); };
  addEventListener('pointerdown', note, {capture: true, passive: true});
  const verdict = await witness(found, request);
  removeEventListener('pointerdown', note, {capture: true});
  if (!verdict) return null;
  const state = await documentState(asked), done = before && nextNumbers().every((n, i) => n === before[i] + 1);
  return {...verdict, state: done && document.readyState === 'complete' ? state : null};
};
