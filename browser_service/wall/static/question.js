// Puts an agent's question to a person.

import { el } from "./dom.js";
import { KINDS } from "./words.js";

const ASIDE = {
  login: "Sign in here, in the picture; then say that it is done.",
  code: "Type the code into the page, or give it here.",
  tab: "Only this agent gets the one that you choose, until you take it back. It sees none of the others.",
};
const FIELDS = { code: "The code", decision: "Your decision", other: "Your answer" };

/** Returns the elements of a question. `send` takes a state and an answer; a `picker` takes the place of the answer's field. */
export function question({ kind, askedBy, ofRule, joinedBy, origin, message, choices }, send, picker = null) {
  const others = joinedBy.length ? `, as ${joinedBy.join(", ")} did` : "";
  const who = ofRule ? "A rule of yours leaves this to you:" : `${askedBy} ${KINDS[kind]}${origin && ` at ${origin}`}${others}${message && ", in its own words:"}`;
  const field = picker || kind === "login" || choices.length ? null : el("input", { type: "text", autocomplete: "one-time-code", maxLength: 2000, required: kind === "decision", placeholder: FIELDS[kind], "aria-label": FIELDS[kind] });
  const answer = () => field?.value ?? "";
  const decline = el("button", { type: "button", onclick: () => send("refused", answer()) }, "Decline");
  const done = picker ? null : choices.length
    ? choices.map((choice) => el("button", { type: "button", onclick: () => send("done", choice) }, choice))
    : el("button", { type: "submit", className: "first" }, kind === "decision" ? "Decide" : "Done");
  const form = el("form", { className: "choices", onsubmit: (event) => {
    event.preventDefault();
    send("done", answer());
  } }, field, done, decline);
  return [el("div", { className: "asks" }, el("p", { className: "small" }, who), message && el("p", { className: "message" }, message),
    ASIDE[kind] && el("p", { className: "small quiet" }, ASIDE[kind])), ...(picker ? [picker] : []), form];
}
