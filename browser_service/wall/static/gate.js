// Shows the door to people who are not signed in: what this is, why they are out, and how to get in.

import { el, write } from "./dom.js";

const COMMAND = "browse-together show";

/** Shows a command, and copies it. */
export function command(text) {
  const copy = el("button", { type: "button", onclick: () => navigator.clipboard.writeText(text).then(() => write(copy, "Copied")) }, "Copy");
  return el("div", { className: "command" }, el("code", {}, text), navigator.clipboard && copy);
}

const door = (...parts) => el("main", { className: "gate" }, el("img", { src: "/wall/static/mark.svg", alt: "" }), ...parts);

export function gate(problem = "") {
  return door(
    el("h1", {}, "See what your agents do"),
    problem && el("p", { className: "problem", role: "alert" }, problem),
    el("p", { className: "quiet" },
      "All pages of the shared browser, live: who works where, what they ask you, and a hand on the wheel. "
      + "The door opens from a terminal on the machine where the service runs:"),
    command(COMMAND),
    el("p", { className: "quiet" }, "It opens this page by a link that works once, for one minute. With ",
      el("code", {}, "--read-only"), " whoever gets it may look, and do nothing."));
}

/** Thanks a guest once their request is over. */
export const farewell = (text) => door(el("h1", {}, text), el("p", { className: "quiet" }, "You can close this page."));

export const waiting = (text) => door(el("p", { className: "quiet", role: "status", "aria-busy": "true" }, text));
