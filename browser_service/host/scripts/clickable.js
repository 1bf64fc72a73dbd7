// Returns what a click on an element is for: its control, or the thing around it that looks or is marked as clickable. An
// element without words, such as an icon, stands for the nearest few words.
import {CONTROLS, control} from "./control.js";

const MARKED = '[onclick], [tabindex], li, tr, [role^=menuitem], [role=option], [role=tab], [role=treeitem], [role=row], '
  + '[role=switch], [role=listitem]';
const MOST_AROUND = 50, FEW_LETTERS = 100;

const around = e => e.assignedSlot || e.parentElement || e.getRootNode().host;

export const clickable = e => {
  const own = control(e), up = [];
  if (own !== e || own.isContentEditable) return own;
  for (let at = e; at && at !== e.ownerDocument.body && up.length < MOST_AROUND; at = around(at)) up.push(at);
  const outer = up.find(at => at.matches(CONTROLS));
  if (outer) return outer;
  const plain = up.findIndex(at => getComputedStyle(at).cursor !== 'pointer');
  const pointed = (plain < 0 ? up.length : plain) - 1, marked = up.findIndex(at => at.matches(MARKED));
  const thing = Math.max(pointed, marked, 0), found = up[thing] || e;
  if (/[\p{L}\p{N}]/u.test(found.innerText)) return found;
  const wordy = up.slice(thing).find(at => /[\p{L}\p{N}]/u.test(at.innerText));
  return wordy && wordy.innerText.length <= FEW_LETTERS ? wordy : found;
};

export default clickable;
