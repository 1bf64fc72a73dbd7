// Shows one page: large, with its timeline, its logs and the person's buttons.

import { Address } from "./address.js";
import { Asks } from "./asks.js";
import { closes, differs, el, keepFocus, menu, paint, say, sheet, write } from "./dom.js";
import { Hand } from "./hand.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { Point } from "./point.js";
import { question } from "./question.js";
import { report } from "./socket.js";
import { Picker } from "./tabs.js";
import { HOLDS, halted, owner, owns, standing } from "./words.js";

const SHOWN = new Set(["stop", "take"]); // above the picture stands what they did

export class PageView {
  #title = el("h1", { className: "cut", dir: "auto" });
  #url = el("p", { className: "url mono quiet cut" });
  #owner = el("span", { className: "owner cut" });
  #facts = el("span", { className: "quiet small cut" });
  #hold = el("div", { className: "holds", hidden: true });
  #halt = el("span");
  #goOn = el("button", { type: "button", onclick: () => this.#do("on", () => this.socket.told("halt_agent", { to: this.id, how: "go_on" })) }, "Go on");
  #halted = el("div", { className: "halted", role: "status", hidden: true }, this.#halt, this.#goOn);
  #line = el("ol", { className: "line", hidden: true });
  #buttons = {};
  #isAsked = false;

  constructor(id, model, socket, tell, threads) {
    Object.assign(this, { id, model, socket, tell, threads, place: location.hash });
    this.picture = new Picture(id);
    const leave = () => Object.values(this.#buttons).find((each) => !each.hidden)?.focus();
    const give = (files, where) => socket.ask("files", { pageId: id, files, at: this.picture.head.chooser ? null : where }); // to what asks for some first
    this.hand = new Hand(this.picture, (made) => socket.input(id, made), leave, tell, give);
    this.address = new Address(id, socket, tell, () => this.hand.element.focus());
    this.picture.paper.append(this.hand.element);
    this.point = new Point(id, this.picture, socket, tell, () => this.#buttons.point.focus());
    this.picture.paper.append(this.point.element);
    this.asks = new Asks(id, socket, tell, () => this.hand.element.focus(), (index) => this.hand.make({ do: "choose", index }));
    this.panel = new Panel(id, model, socket, tell);
    this.element = el("main", { className: "page", tabIndex: -1 },
      el("header", { className: "head" },
        el("a", { className: "button plain back", href: "#/", "aria-label": "Back to the wall" }, "←"),
        el("div", { className: "names" }, el("div", { className: "heading" }, this.#title),
          el("div", { className: "under" }, el("p", { className: "whose" }, this.#owner, this.#facts), this.#url)),
        this.#toolbar(), this.address.element),
      el("div", { className: "stage" },
        this.#halted, this.#hold, this.asks.element, this.point.panel, this.picture.element, this.#line),
      this.panel.element);
    this.update();
  }

  update() {
    const page = this.model.pages.get(this.id);
    this.element.classList.toggle("gone", !page);
    if (!page) {
      write(this.#title, `${this.id} is closed`);
      write(this.#url, "");
      this.picture.state("closed");
      this.hand.enable(false);
      this.address.update(null, false);
      this.asks.update({}, {}, false, false);
      return;
    }
    [this.opener, this.wasInHand] = [page.opener, this.#isInHand()];
    paint(this.element, page.owner?.colour);
    const kind = page.person?.kind;
    this.picture.inHand(Boolean(kind));
    const halt = page.owner?.halt;
    this.#halted.hidden = !halt;
    this.#goOn.hidden = this.model.viewer.readOnly || Boolean(this.model.viewer.request);
    if (halt) write(this.#halt, `${owner(page)} is ${halted(halt)}.`);
    const isAwaited = kind === "tab"; // it only stands for the tab that is asked for
    this.element.classList.toggle("awaits", isAwaited);
    write(this.#title, isAwaited ? "Which of your tabs?" : page.locked ? page.id : page.title || page.id);
    write(this.#url, isAwaited ? "" : page.locked ? "A private page: only its person sees it" : page.url);
    write(this.#owner, owner(page));
    write(this.#facts, [page.id, [...this.model.pages.values()].some(({ session }) => session !== page.session) && `session ${page.session}`, page.host && `on host ${page.host}`].filter(Boolean).join(" · "));
    if (page.locked) this.picture.state("locked");
    this.#hold.hidden = !kind && !page.held;
    this.#hold.dataset.kind = kind ?? "held";
    this.#holds(page);
    this.address.update(page, this.#isInHand() && !this.model.viewer.request && !page.locked);
    const inHand = kind === "taken" || kind === "stopped";
    this.#reach();
    const { stop, take, give, release, point, write: writes } = this.#buttons;
    const mayAct = !this.model.viewer.readOnly;
    for (const button of Object.values(this.#buttons)) button.disabled = !mayAct;
    keepFocus(this.#buttons, () => {
      stop.hidden = inHand;
      take.hidden = kind === "taken";
      release.hidden = !inHand;
    });
    take.classList.toggle("first", !kind);
    give.disabled ||= !this.#others().length;
    point.disabled ||= !page.owner || this.#isInHand() || page.locked;
    if (point.disabled) this.point.end();
    writes.disabled ||= !this.#agent();
    this.asks.update(this.picture.head ?? {}, page, mayAct, this.#isInHand());
    if (page.locked) this.panel.sayEmpty("timeline", "Only its person sees what was done here.");
  }

  #isInHand() {
    const kind = this.model.pages.get(this.id)?.person?.kind;
    return Boolean(kind) && kind !== "stopped" && kind !== "tab" && !this.model.viewer.readOnly;
  }

  /** Returns the page to show in place of this one: a popup of the page that one has in hand, or its opener once it is closed. */
  leadsTo(known) {
    const { pages } = this.model;
    const page = pages.get(this.id);
    if (!page) return this.wasInHand && pages.has(this.opener) ? this.opener : null;
    const isPopup = ({ id, opener, person }) => opener === this.id && !known.has(id) && person?.requestId === page.person.requestId;
    return this.wasInHand ? [...pages.values()].find(isPopup)?.id : null;
  }

  /** Says in whose hands the page is, and what is to be done about it. */
  #holds(page) {
    const kind = page.person?.kind;
    const request = this.model.requests.find(({ id }) => id === page.person?.requestId);
    const words = {
      taken: "Click, type and scroll in the picture; agents are kept out until you give it back.",
      stopped: "Agents are kept out until you give it back; to work in it yourself, take it over.",
    };
    const text = kind ? `${HOLDS[kind]}. ${words[kind] ?? request?.message ?? `${page.person.by} waits.`}` : page.held ? `${owner(page)} keeps it: ${page.held.reason}` : "";
    if (!differs(this.#hold, text, request?.id)) return;
    this.picker?.leave();
    this.picker = kind === "tab" && request?.mayAnswer ? new Picker(request.id, this.socket, (given) => this.#answered(given)) : null;
    const answer = (state, said) => this.#answered(this.socket.ask("answer", { requestId: request.id, state, answer: said }));
    this.#hold.replaceChildren(...(request?.mayAnswer ? question(request, answer, { instead: this.picker?.element }) : [el("span", {}, text)]));
  }

  #answered(given) {
    this.answered = given;
    return report(given, this.tell, "linked");
  }

  /** Gives the page into the hand that has it. One without a window is asked for it once, by an empty stroke. */
  #reach() {
    const state = this.#isInHand() && this.picture.head?.state; // of which nothing is known at first
    const isWanted = ["parked", "resting", "crashed"].includes(state);
    this.hand.enable(Boolean(state) && !isWanted);
    if (isWanted && !this.#isAsked) this.socket.input(this.id, []);
    this.#isAsked = isWanted;
  }

  frame(head, blob) {
    const page = this.model.pages.get(this.id);
    if (!page || page.locked) return;
    this.picture.frame(head, blob);
    this.#reach();
    this.asks.update(head, page, !this.model.viewer.readOnly, this.#isInHand());
    const waiting = head.waiting ?? [];
    if (!differs(this.#line, waiting)) return;
    this.#line.hidden = !waiting.length;
    this.#line.replaceChildren(...waiting.map((text) => el("li", {}, text)));
  }

  message(message) {
    if (message.pageId === this.id) this.panel.message(message);
  }

  leave() {
    this.point.leave = () => {};
    this.panel.leave();
    this.picker?.leave();
  }

  // --- buttons ------------------------------------------------------------------------------------------------------

  #toolbar() {
    const button = (name, text, title, press, className = "") => (this.#buttons[name] = el("button", { type: "button", title, className, onclick: press }, text));
    const bar = el("div", { className: "toolbar", role: "toolbar", "aria-label": "What you may do" },
      button("stop", "Stop this act", "Cancel what runs, and refuse what comes, until you give the page back", () => this.#do("stop", () => this.#call("take_over", { stop: true })), "danger"),
      button("take", "Take over", "Keep agents out: the page is in your hands", () => this.#do("take", () => this.#call("take_over", { stop: false })), "first"),
      button("release", "Give back", "Let its agent go on", () => this.#do("release", () => this.#call("give_back")), "first"),
      button("point", "Point", "Show its agent an element of the page, with a few words", () => this.point.begin()),
      button("write", "Write", "Write its agent a line", () => this.threads.open(this.#agent().id)),
      menu("Menu",
        button("give", "Give to…", "Make another agent its owner", () => this.#askWhom()),
        button("close", "Close", "Close the page; its agent is told", () => this.#askToClose())));
    if (this.model.viewer.readOnly) bar.append(el("p", { className: "quiet small" }, "You may look, and do nothing: your link was a read-only one."));
    return bar;
  }

  async #call(action, more) {
    return (await this.socket.call(action, { pageId: this.id, ...more })).observed;
  }

  #agent() {
    return this.model.agents.find((agent) => owns(agent, this.model.pages.get(this.id)));
  }

  #others() {
    return this.model.agents.filter((agent) => agent !== this.#agent());
  }

  async #do(name, deed) {
    try {
      const said = await deed();
      (SHOWN.has(name) ? say : this.tell)(said);
      if (name === "close" && location.hash === this.place) location.hash = "#/";
      if (name === "take") this.hand.takeKeys();
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  #askWhom() {
    const give = async (to) => (await this.socket.ask("give", { pageId: this.id, to })).observed;
    const choices = this.#others().map((agent) => {
      const choice = closes([agent.label, el("span", { className: "quiet small" }, standing(agent))], "", () => this.#do("give", () => give(agent.to)));
      paint(choice, agent.colour);
      return choice;
    });
    sheet("question", "Give it to", el("div", { className: "agents" }, choices), el("div", { className: "choices" }, closes("Cancel")));
  }

  /** Who closes a page takes it in hand before, so its agent need not agree. */
  #askToClose() {
    const close = () => this.#call("take_over", { stop: true }).then(() => this.#call("close_page", { reason: "A person closed it at the wall." }));
    sheet("question", `Close ${this.id}?`, el("p", { className: "quiet" }, "What is not saved on it is lost. Its agent is told that a person closed it."),
      el("div", { className: "choices" }, closes("Cancel"), closes("Close it", "danger", () => this.#do("close", close))));
  }
}
