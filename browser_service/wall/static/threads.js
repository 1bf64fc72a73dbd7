// Shows what a person and an agent wrote to each other, and writes to one agent or to all.

import { closes, differs, el, paint, write } from "./dom.js";
import { report } from "./socket.js";
import { clock } from "./words.js";

const READ = "browse-together.read";
const MOST_READ = 200;

/** Shows one line of a thread. */
export const written = ({ by, at, text, about, ofPerson }, isUnread = false) => el("li", { className: ofPerson ? "mine" : "theirs" },
  el("p", { className: "small quiet" }, `${by || "You"} · ${clock(at)}${isUnread ? " · not read yet" : ""}`),
  about && el("p", { className: "mono small cut about" }, `→ ${about}`),
  text && el("p", { className: "said-line" }, text));

export class Threads {
  #title = el("h2", { className: "cut", id: "thread" });
  #aside = el("p", { className: "small quiet" });
  #lines = el("ol", { className: "lines", "aria-live": "polite" });
  #field = el("input", { type: "text", maxLength: 500, required: true, autocomplete: "off", "aria-label": "Your line" });
  #send = el("button", { type: "submit", className: "first" }, "Send");
  #seen = new Map(Object.entries(JSON.parse(localStorage.getItem(READ) ?? "{}"))); // until when an agent's lines were read
  #told = Infinity; // until when lines were told: what was written before this wall was opened is no news
  #id = null;
  #dialog = el("dialog", { className: "question thread", "aria-labelledby": "thread", onclose: () => { this.#id = null; } });

  constructor(model, socket, tell) {
    Object.assign(this, { model, socket, tell });
    this.#dialog.append(this.#title, this.#aside, this.#lines,
      el("form", { onsubmit: () => this.#write() }, this.#field,
        el("div", { className: "choices" }, closes("Close"), this.#send)));
    document.body.append(this.#dialog);
  }

  /** Opens the thread of the agent with this id; without one, a line to all. */
  open(id) {
    this.#id = id;
    this.#field.value = "";
    this.#draw();
    this.#dialog.showModal();
    this.#field.focus();
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  /** Returns how many lines of an agent nobody has looked at here. */
  fresh(id) {
    return this.#of(id).filter(({ ofPerson, at }) => !ofPerson && at > (this.#seen.get(id) ?? 0)).length;
  }

  /** Tells what agents wrote since the last update, and shows it in the thread that is open. */
  update() {
    for (const [id, { lines }] of this.model.threads) {
      const newest = lines.findLast(({ ofPerson }) => !ofPerson);
      if (newest?.at > this.#told && !(this.#dialog.open && this.#id === id)) this.tell(`${newest.by}: “${newest.text}”`);
    }
    this.#told = Math.max(0, ...[...this.model.threads.values()].flatMap(({ lines }) => lines.map(({ at }) => at)));
    if (this.#dialog.open) this.#draw();
  }

  get #agent() {
    return this.model.agents.find(({ id }) => id === this.#id);
  }

  #of(id) {
    return this.model.threads.get(id)?.lines ?? [];
  }

  #draw() {
    const agent = this.#agent;
    const lines = this.#of(this.#id);
    if (this.fresh(this.#id)) {
      this.#seen.set(this.#id, lines.at(-1).at);
      localStorage.setItem(READ, JSON.stringify(Object.fromEntries([...this.#seen].slice(-MOST_READ))));
    }
    const unread = agent?.unread ?? 0;
    if (!differs(this.#dialog, this.#id, lines, agent?.label, unread)) return;
    paint(this.#dialog, agent?.colour);
    write(this.#title, this.#id === null ? "Write to all agents" : agent ? `Write to ${agent.label}` : "This agent is gone");
    write(this.#aside, this.#id === null ? "It stands in the next reply of each; one that waits has it at once." : "It stands in its next reply; if it waits, it has it at once.");
    this.#send.disabled = this.#id !== null && !agent;
    const own = lines.filter(({ ofPerson }) => ofPerson);
    const waiting = new Set(own.slice(own.length - Math.min(unread, own.length)));
    this.#lines.hidden = !lines.length;
    this.#lines.replaceChildren(...lines.map((each) => written(each, waiting.has(each))));
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  async #write() {
    const [isToAll, agent] = [this.#id === null, this.#agent];
    if (!isToAll && !agent) return;
    this.#send.disabled = true;
    const told = this.socket.told("tell_agent", { to: agent?.to, message: this.#field.value });
    if (await report(told.then((text) => isToAll && text), this.tell)) { // else the thread says whether it is read
      this.#field.value = "";
      if (isToAll) this.#dialog.close();
    }
    this.#send.disabled = this.#id !== null && !this.#agent;
  }
}
