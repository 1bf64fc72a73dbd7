// Lists the agents: what each does or did last, with buttons to pause it, stop it, let it go on and write to it. A press
// on one leaves only its pages.

import { arrange, differs, el, icon, keepFocus, paint, say, write } from "./dom.js";
import { report } from "./socket.js";
import { called, capital, deed, halted, owns, since, standing, toPage, verb } from "./words.js";

const DRAWN = { pause: "M7 4.5v11M13 4.5v11", stop: "M5 5h10v10H5z", write: "M4 16l.8-3.6L13 4.2l2.8 2.8-8.2 8.2z" };

export class Agents {
  #rows = new Map();
  #list = el("ul", { className: "crew-list" });
  #count = el("span", { className: "count" });
  #told = el("span");
  #halted = el("div", { className: "halted", role: "status", hidden: true }, this.#told);
  #cancelled = "";
  #buttons = {};
  chosen = null;

  /** `onChoice` is told that other pages are wanted. */
  constructor(model, socket, tell, threads, onChoice) {
    Object.assign(this, { model, socket, tell, threads, onChoice });
    const button = (name, text, title, press, className = "") => (this.#buttons[name] = el("button", { type: "button", title, className, onclick: press }, text));
    const ways = el("span", { className: "of-all" },
      button("write", "Write to all", "A line in the next reply of every agent", () => threads.open(null), "plain"),
      button("stop", "Stop all", "Cancel what all agents do, and refuse what comes, until you let them go on", () => this.halt("", "stop"), "plain danger"));
    this.#halted.append(button("on", "Go on", "Let all agents go on", () => this.halt("", "go_on"), "first"));
    this.element = el("section", { className: "crew", "aria-labelledby": "crew" },
      el("h2", { id: "crew" }, "Agents ", this.#count), this.#halted, el("div", { className: "strip" }, this.#list, ways));
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
    this.#rows = new Map(agents.map(({ id }) => [id, this.#rows.get(id) ?? new Row(this, id)]));
    if (!this.#rows.has(this.chosen)) this.chosen = null;
    for (const agent of agents) this.#rows.get(agent.id).update(agent, mayAct, Boolean(halt));
    arrange(this.#list, [...this.#rows.values()].map((row) => row.element));
    this.threads.update();
  }

  choose(id) {
    this.chosen = this.chosen === id ? null : id;
    this.onChoice();
  }

  /** Whether a page is of the agent that is chosen, if one is. */
  wants(page) {
    const agent = this.model.agents.find(({ id }) => id === this.chosen);
    return !agent || owns(agent, page);
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
  #name = el("button", { type: "button", className: "owner", dir: "auto" });
  #field = el("input", { type: "text", maxLength: 60, hidden: true, required: true, autocomplete: "off", "aria-label": "Its name", onblur: () => this.#rename(false), onkeydown: (event) => this.#pressed(event) });
  #does = el("p", { className: "does cut" });
  #browser = el("select", { hidden: true, title: "The browser of yours in which its new pages open", onchange: () => this.#put() });
  #news = el("span", { className: "news", hidden: true });
  #buttons = {};

  constructor(agents, id) {
    const button = (name, title, press, face = icon(DRAWN[name])) => (this.#buttons[name] = el("button", { type: "button", className: DRAWN[name] ? "icon plain" : "", title, onclick: press }, face));
    this.#name.onclick = () => agents.choose(id);
    this.element = el("li", { className: "agent" }, this.#name, this.#field, this.#news, this.#does,
      el("span", { className: "ways" },
        button("pause", "Pause: its calls wait, for at most 10 minutes", () => agents.halt(this.agent.to, "pause")),
        button("stop", "Stop: cancel what it does, and refuse what comes, until you let it go on", () => agents.halt(this.agent.to, "stop")),
        button("on", "Let it go on", () => agents.halt(this.agent.to, "go_on"), "Go on"),
        button("write", "Write: a line in its next reply, or at once if it waits", () => agents.threads.open(id)),
        button("name", "Give it another name", () => this.#rename(true), "Aa")), this.#browser);
    Object.assign(this, { agents, threads: agents.threads });
  }

  update(agent, mayAct, allHalted) {
    this.agent = agent;
    const { label, colour, halt } = agent;
    paint(this.element, colour);
    write(this.#name, label);
    this.#name.title = `${label} · ${standing(agent)}`;
    this.#name.ariaPressed = String(this.agents.chosen === agent.id);
    this.#say(agent, allHalted);
    const { pause, stop, on, write: writes, name } = this.#buttons;
    keepFocus(this.#buttons, () => {
      pause.hidden = !mayAct || Boolean(halt);
      stop.hidden = !mayAct || halt?.how === "stop";
      on.hidden = !mayAct || !halt;
      writes.hidden = name.hidden = !mayAct;
    });
    on.classList.toggle("first", !allHalted);
    for (const [name, text] of [["pause", "Pause"], ["stop", "Stop"], ["on", "Go on"], ["write", "Write to"], ["name", "Rename"]]) this.#buttons[name].setAttribute("aria-label", `${text} ${label}`);
    this.#offer(agent, mayAct ? this.agents.model.browsers : []);
    const fresh = this.threads.fresh(agent.id);
    this.#news.hidden = !fresh;
    this.#news.dataset.count = fresh;
    if (fresh) writes.setAttribute("aria-label", `Write to ${label}, who wrote ${fresh === 1 ? "a line" : `${fresh} lines`}`);
  }

  /** Offers the person's browsers in which the agent may work, if there are any. */
  #offer({ label, session }, browsers) {
    this.#browser.hidden = !browsers.length;
    this.#browser.ariaLabel = `Browser of ${label}`;
    if (differs(this.#browser, browsers)) this.#browser.replaceChildren(...["", ...browsers].map((value) => el("option", { value }, value || "as it was set up")));
    this.#browser.classList.toggle("put", session !== "");
    if (document.activeElement !== this.#browser) this.#browser.value = session;
  }

  async #put() {
    const sessionId = this.#browser.value;
    this.#browser.blur();
    await report(this.agents.socket.ask("put", { agent: this.agent.id, sessionId }), this.agents.tell);
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
    const [what, when] = halt && !(allHalted && halt.how === "stop") ? [`${capital(halted(halt))}${waiting}`, ""]
      : doing && !halt ? [`${verb(doing.action)} · ${at}`, seconds(doing.since)]
      : last ? [did(last), since(last.at)]
      : [here ? "nothing yet" : "away", ""];
    const text = [what, when].filter(Boolean).join(" · ");
    if (!differs(this.#does, text, at)) return;
    this.#does.classList.toggle("now", Boolean(doing) && !halt);
    this.element.classList.toggle("is-halted", Boolean(halt) && !allHalted);
    this.#does.replaceChildren(at && !halt ? el("a", { href: toPage(at), title: `On ${at}` }, text) : text);
  }
}

/** Says in a sentence what was cancelled: "wait_for_url on shop" is what the command line says. */
const inVerbs = (text) => capital(text.replace(/\b([a-z_]+) on ([\w.~-]+\w)/g, (_, name, page) => `${verb(name)} (${page})`));

/** Says what an agent did last, and on what. */
function did(last) {
  const [what, name] = [deed(last), called(last.aim ?? "")];
  if (last.outcome !== "ok") return what;
  return name && name !== last.aim ? `${what} ${name}` : `${what}${what === "opened" ? " " : " · "}${last.pageId}`; // else it is but a path
}

const seconds = (at) => (Date.now() / 1000 - at < 3 ? "" : `${Math.round(Date.now() / 1000 - at)} s`);
