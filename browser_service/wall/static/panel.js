// Shows a page's timeline, console and network log beside its picture.

import { differs, el } from "./dom.js";
import { openWindow } from "./files.js";
import { askForFlow } from "./flow.js";
import { report } from "./socket.js";
import { Timeline } from "./timeline.js";
import { host, path, time } from "./words.js";

const LISTED_EVERY_MS = 1500;
const MOST_ROWS = 300;
const NAMES = { timeline: "Timeline", console: "Console", network: "Network" };

export class Panel {
  #rows = { console: el("ol", { className: "rows" }), network: el("ol", { className: "rows" }) };
  #timer = 0;

  constructor(id, model, socket, tell) {
    Object.assign(this, { id, model, socket, tell });
    this.timeline = new Timeline((ids) => socket.ask("pictures", { ids }));
    this.#rows.timeline = this.timeline.element;
    this.element = this.#make();
    this.#open("timeline");
  }

  message(message) {
    this.timeline.take(message);
    this.sayEmpty("timeline", "Nothing was done here yet. What only reads is not written down.");
  }

  leave() {
    clearInterval(this.#timer);
    this.timeline.clear();
  }

  #make() {
    const tabs = Object.entries(NAMES).map(([name, text]) => el("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => this.#open(name),
      onkeydown: ({ key, target }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        const next = step && tabs.at((tabs.indexOf(target) + step) % tabs.length);
        next?.click();
        next?.focus();
      },
    }, text));
    this.tabs = tabs;
    this.panels = Object.keys(NAMES).map((name) => el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabIndex: 0 }, this.#rows[name]));
    const save = el("button", { type: "button", className: "small", onclick: () => this.#save() }, "Save as a flow…");
    const replay = el("button", { type: "button", className: "small", title: "Play what was done here, in a window of its own", onclick: () => openWindow(this.socket, "page", this.id, this.tell) }, "Replay");
    if (!this.model.viewer.readOnly) this.panels[0].prepend(el("p", { className: "of-page" }, replay, save));
    this.panels[0].append(el("p", { className: "of-pictures quiet small" }, "Acts get pictures while somebody watches or records the page; BROWSE_TIMELINE changes that."));
    return el("section", { className: "panel", "aria-label": "What happened" },
      el("div", { className: "tabs", role: "tablist" }, tabs), this.panels);
  }

  #save() {
    const acts = this.timeline.acts;
    if (!acts.length) return this.tell("Nothing was done here yet.", true);
    const save = async (more) => (await this.socket.call("save_flow", { pageId: this.id, ...more })).observed;
    askForFlow(acts, (name, since, until) => report(save({ name, since, until }), this.tell));
  }

  #open(name) {
    for (const tab of this.tabs) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const panel of this.panels) panel.hidden = panel.id !== `panel-${name}`;
    clearInterval(this.#timer);
    if (name === "timeline") return;
    const ask = () => document.hidden || this.model.pages.get(this.id)?.locked || this.#list(name).catch((error) => error.code && this.tell(error.message, true)); // of a lost connection the wall tells
    ask();
    this.#timer = setInterval(ask, LISTED_EVERY_MS);
  }

  async #list(name) {
    const { action, more, rows, make, empty } = LOGS[name];
    const list = (await this.socket.call(action, { pageId: this.id, limit: 100, ...more }))[rows] ?? [];
    if (!differs(this.#rows[name], list)) return;
    this.#rows[name].replaceChildren(...list.slice(-MOST_ROWS).reverse().map(make));
    this.sayEmpty(name, empty);
  }

  sayEmpty(name, text) {
    if (!this.#rows[name].children.length) this.#rows[name].append(el("li", { className: "quiet empty-row" }, text));
    else if (this.#rows[name].children.length > 1) this.#rows[name].querySelector(".empty-row")?.remove();
  }
}

const said = (row) => el("li", { className: `said ${row.type}` },
  el("p", { className: "first-line" }, el("time", { className: "mono quiet" }, time(row.time)), el("span", { className: "kind" }, row.type)),
  el("p", { className: "mono words" }, row.text), row.location && el("p", { className: "mono small quiet cut" }, row.location));

const requested = (row) => el("li", { className: `requested${row.failure || row.status >= 400 ? " failed" : ""}` },
  el("p", { className: "first-line" }, el("span", { className: "mono method" }, row.method), el("span", { className: "mono cut words", title: row.url }, `${host(row.url)}${path(row.url)}`),
    el("span", { className: "mono quiet took" }, String(row.status ?? row.failure ?? "…"))));

const LOGS = {
  console: { action: "get_console_messages", rows: "messages", make: said, empty: "Its scripts have said nothing." },
  network: { action: "get_network_log", more: { format: "records", budget: 100_000 }, rows: "requests", make: requested, empty: "It has requested nothing." },
};
