// Asks which stretch of a page's timeline becomes a flow, and under what name.

import { closes, el, sheet } from "./dom.js";
import { aim, deed, time } from "./words.js";

/** `acts` are the oldest first. `save` gets the name and the times of the first and the last act. */
export function askForFlow(acts, save) {
  const choice = (text, chosen) => {
    const options = acts.map((row, at) => el("option", { value: at, selected: at === chosen }, `${time(row.time)} ${deed(row)} ${aim(row) ?? ""}`));
    const select = el("select", { "aria-label": text }, options);
    return { select, field: el("label", {}, text, select) };
  };
  const first = choice("From", 0);
  const last = choice("To", acts.length - 1);
  const name = el("input", { "aria-label": "Name", required: true, pattern: "[a-z0-9][a-z0-9_\\-]{0,47}", title: "Lower case letters, digits, - and _", autocomplete: "off" });
  const done = ({ target }) => {
    target.closest("dialog").close();
    save(name.value, acts[first.select.value].time, acts[last.select.value].time);
  };
  sheet("question", "Save as a flow",
    el("form", { onsubmit: done }, el("label", {}, "Name", name), first.field, last.field,
      el("p", { className: "quiet small" }, "What was typed becomes parameters. It runs again without a model."),
      el("div", { className: "choices" }, closes("Cancel"), el("button", { className: "first" }, "Save"))));
}
