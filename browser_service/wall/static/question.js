// Puts an agent's question to a person.

import { el } from "./dom.js";
import { KINDS } from "./words.js";

const ASIDE = {
  login: "Sign in here, in the picture; then say that it is done.",
  code: "Type the code into the page, or give it here.",
  tab: "Only this agent gets the one that you choose, until you take it back. It sees none of the others.",
};
const FIELDS = { code: "The code", decision: "Your decision", other: "Your answer" };

/** Returns the elements of a question. `send` takes a state and an answer, and returns whether it came to something; `at` says
 * where it was asked, and `instead` takes the place of what answers it. */
export function question({ kind, askedBy, ofRule, joinedBy, origin, message, choices }, send, { at = null, instead = null } = {}) {
  const others = joinedBy.length ? `, as ${joinedBy.join(", ")} did` : "";
  const who = ofRule ? ["A call waits for you:"] : [el("b", { className: "owner" }, askedBy), ` ${KINDS[kind]}${origin && ` at ${origin}`}${others}${message && ", in its own words:"}`];
  const field = instead || kind === "login" || choices.length ? null : el("input", { type: "text", autocomplete: "one-time-code", maxLength: 2000, required: kind === "decision", placeholder: FIELDS[kind], "aria-label": FIELDS[kind] });
  const give = async (state, answer) => {
    const buttons = form.querySelectorAll("button");
    for (const each of buttons) each.disabled = true;
    if (await send(state, answer) === false) for (const each of buttons) each.disabled = false;
  };
  const said = () => field?.value ?? "";
  const done = instead ? [] : choices.length
    ? choices.map((choice) => el("button", { type: "button", onclick: () => give("done", choice) }, choice))
    : [el("button", { type: "submit", className: "first" }, kind === "decision" ? "Decide" : "Done")];
  const form = el("form", { className: "choices", onsubmit: () => give("done", said()) }, field, instead, done, el("button", { type: "button", className: "plain", onclick: () => give("refused", said()) }, "Decline"));
  return [el("div", { className: "asks" }, el("p", { className: "small" }, who), message && el("p", { className: "message" }, message),
    at ?? (ASIDE[kind] && el("p", { className: "small quiet" }, ASIDE[kind]))), form];
}
