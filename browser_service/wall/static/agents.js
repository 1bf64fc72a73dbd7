// Lists the agents: what each does or did last, with buttons to pause it, stop it, let it go on and write to it.

import { arrange, el, keepFocus, paint, say, write } from "./dom.js";
import { report } from "./socket.js";
import { capital, halted, since, verb } from "./words.js";

const AGAIN_MS = 5000; // for "12 s ago"

export class Agents {
  #rows = new Map();
  #list = el("ul", { className: "crew-list" });
  #count = el("span", { className: "count" });
  #told = el("span");
  #halted = el("div", { className: "halted", role: "status", hidden: true }, this.#told);
  #cancelled = "";
  #buttons = {};

  constructor(model, socket, tell, threads) {
    Object.assign(this, { model, socket, tell, threads });
    const button = (name, text, title, press, className = "") => (this.#buttons[name] = el("button", { type: "button", title, className, onclick: press }, text));
    const ways = el("span", { className: "ways" },
      button("write", "Write to all", "A line in the next reply of every agent", () => threads.open(null)),
      button("stop", "Stop all", "Cancel what all agents do, and refuse what comes, until you let them go on", () => this.halt("", "stop"), "danger"));
    this.#halted.append(button("on", "Go on", "Let all agents go on", () => this.halt("", "go_on"), "first"));
    this.element = el("section", { className: "crew", "aria-labelledby": "crew" },
      el("header", {}, el("h2", { id: "crew" }, "Agents ", this.#count), ways), this.#halted, this.#list);
    setInterval(() => document.hidden || this.update(), AGAIN_MS);
  }

  update() {
    const { agents, halt, viewer } = this.model;
    this.element.hidden = !agents.length && !halt;
    write(this.#count, String(agents.length));
    const mayAct = !viewer.readOnly;
    keepFocus(this.#buttons, () => {
      this.#buttons.write.hidden = !mayAct || !agents.length;
      this.#buttons.stop.hidden = this.#buttons.write.hidden || Boolean(halt);
      this.#buttons.on.hidden = !mayAct || !halt;
      this.#halted.hidden = !halt;
    });
    if (halt) write(this.#told, `All agents are ${halted(halt)}, and those who come.${this.#cancelled}`);
    const known = new Map();
    for (const agent of agents) known.set(agent.id, this.#rows.get(agent.id) ?? new Row(this, agent.id));
    this.#rows = known;
    for (const agent of agents) known.get(agent.id).update(agent, mayAct, Boolean(halt));
    arrange(this.#list, [...known.values()].map((row) => row.element));
    this.threads.update();
  }

  async halt(to, how) {
    try {
      const told = await this.socket.told("halt_agent", { to: to || undefined, how });
      if (!to) this.#cancelled = how === "stop" ? ` ${inVerbs(told.split("; ").at(-1))}` : "";
      say(told); // those who see it read it in the row
      this.update();
    } catch (error) {
      this.tell(error.message, true);
    }
  }
}

class Row {
  #name = el("button", { type: "button", className: "owner cut name", dir: "auto", title: "Give it another name", onclick: () => this.#rename(true) });
  #field = el("input", { type: "text", maxLength: 60, hidden: true, required: true, autocomplete: "off", "aria-label": "Its name", onblur: () => this.#rename(false), onkeydown: (event) => this.#pressed(event) });
  #does = el("span", { className: "does cut" });
  #pages = el("span", { className: "quiet small pages" });
  #news = el("span", { className: "news", hidden: true });
  #buttons = {};
  #shown = "";

  constructor(agents, id) {
    const button = (name, text, title, press, ...more) => (this.#buttons[name] = el("button", { type: "button", title, onclick: press }, text, ...more));
    this.element = el("li", { className: "agent" }, el("span", { className: "called" }, this.#name, this.#field), this.#does, this.#pages,
      el("span", { className: "ways" },
        button("pause", "Pause", "Its calls wait, for at most 10 minutes", () => agents.halt(this.agent.to, "pause")),
        button("stop", "Stop", "Cancel what it does, and refuse what comes, until you let it go on", () => agents.halt(this.agent.to, "stop")),
        button("on", "Go on", "Let it go on", () => agents.halt(this.agent.to, "go_on")),
        button("write", "Write", "A line in its next reply, or at once if it waits", () => agents.threads.open(id), this.#news)));
    Object.assign(this, { agents, threads: agents.threads });
  }

  update(agent, mayAct, allHalted) {
    this.agent = agent;
    const { label, colour, pages, halt } = agent;
    paint(this.element, colour);
    write(this.#name, label);
    this.#name.disabled = !mayAct;
    this.#say(agent, allHalted);
    write(this.#pages, pages === 1 ? "1 page" : `${pages} pages`);
    const { pause, stop, on, write: writes } = this.#buttons;
    keepFocus(this.#buttons, () => {
      pause.hidden = !mayAct || Boolean(halt);
      stop.hidden = !mayAct || halt?.how === "stop";
      on.hidden = !mayAct || !halt;
      writes.hidden = !mayAct;
    });
    on.classList.toggle("first", !allHalted);
    for (const [name, text] of [["pause", "Pause"], ["stop", "Stop"], ["on", "Go on"], ["write", "Write to"]]) this.#buttons[name].setAttribute("aria-label", `${text} ${label}`);
    const fresh = this.threads.fresh(agent.id);
    this.#news.hidden = !fresh;
    this.#news.dataset.count = fresh;
    if (fresh) writes.setAttribute("aria-label", `Write to ${label}, who wrote ${fresh === 1 ? "a line" : `${fresh} lines`}`);
  }

  /** Shows a field in the name's place, or the name again. */
  #rename(asks) {
    this.#name.hidden = asks;
    this.#field.hidden = !asks;
    if (!asks) return;
    this.#field.value = this.agent.label;
    this.#field.focus();
    this.#field.select();
  }

  async #pressed(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.stopPropagation(); // the wall has keys of its own
    event.preventDefault(); // else it presses the name, which gets the focus
    const { value } = this.#field;
    this.#rename(false);
    this.#name.focus();
    if (event.key === "Escape" || !value.trim() || value === this.agent.label) return;
    await report(this.agents.socket.ask("rename", { agent: this.agent.id, name: value }).then((name) => `It is called ${name} now.`), this.agents.tell);
  }

  #say({ doing, last, halt, since: here }, allHalted) {
    const at = doing?.pageId ?? last?.pageId;
    const waiting = doing?.waiting ? ` · ${doing.waiting === 1 ? "1 call waits" : `${doing.waiting} calls wait`}` : "";
    const text = halt && !(allHalted && halt.how === "stop") ? `${capital(halted(halt))}${waiting}`
      : doing && !halt ? `${verb(doing.action)}${seconds(doing.since)}`
      : last ? `${verb(last.action)}${last.outcome === "ok" ? "" : ", which failed"}, ${since(last.at)}`
      : here ? "nothing since the service began" : "away";
    const key = `${text}${at}`;
    if (this.#shown === key) return;
    this.#shown = key;
    this.#does.classList.toggle("now", Boolean(doing) && !halt);
    this.#does.classList.toggle("is-halted", Boolean(halt) && !allHalted);
    this.#does.replaceChildren(text, ...(at && !halt ? [" · ", el("a", { href: `#/page/${encodeURIComponent(at)}` }, at)] : []));
  }
}

/** Says in a sentence what was cancelled: "wait_for_url on shop" is what the command line says. */
const inVerbs = (text) => capital(text.replace(/\b([a-z_]+) on ([\w.~-]+\w)/g, (_, name, page) => `${verb(name)} (${page})`));

const seconds = (at) => {
  const s = Math.round(Date.now() / 1000 - at);
  return s < 3 ? "" : `, ${s} s`;
};
