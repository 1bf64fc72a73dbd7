// Returns what a person means who points at an element: the control around it, or else the element itself; null for the
// page's blank ground.
import {CONTROLS} from "./control.js";

const around = e => e.assignedSlot || e.parentElement || e.getRootNode().host;

export default e => {
  for (let at = e; at; at = around(at)) if (at.matches(CONTROLS)) return at;
  return e.matches("html, body") ? null : e;
};
