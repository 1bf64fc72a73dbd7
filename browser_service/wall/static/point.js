// Lets a person point at an element of a page that they watch, and send it to the page's agent with a few words. The frame
// is drawn from what the service measures: nothing that the page draws can be taken for it.

import { el, write } from "./dom.js";
import { report } from "./socket.js";

const STEP_PX = 24; // of an arrow key

export class Point {
  #frame = el("span", { className: "framed", hidden: true }, el("span", { className: "framed-name" }));
  #name = el("b", { className: "cut" });
  #field = el("input", { type: "text", maxLength: 500, autocomplete: "off", placeholder: "This one, not that one", "aria-label": "A few words about it" });
  #hint = el("div", { className: "hint" }, el("p", { className: "small quiet" }, "Point at what you mean, and press it. Arrow keys and Enter do it too; Escape ends it."), this.#cancel());
  #form = el("form", { hidden: true, onsubmit: () => this.#send() },
    el("p", { className: "small" }, "You mean ", this.#name), this.#field,
    el("div", { className: "choices" }, el("button", { type: "submit", className: "first" }, "Send"), el("button", { type: "button", onclick: () => this.begin() }, "Another"), this.#cancel()));
  #at = null;
  #isAsked = false;
  #isPicking = false;
  #round = 0; // of pointing: an answer of an earlier one is not drawn
  #about = "";
  element = el("div", { className: "pointing", hidden: true, tabIndex: 0, role: "application", "aria-label": "Point at an element of the page",
    onpointermove: (event) => this.#move(event), onclick: (event) => this.#move(event, true), onkeydown: (event) => this.#key(event) }, this.#frame);
  panel = el("section", { className: "asking", role: "group", "aria-label": "Point", hidden: true, onkeydown: (event) => this.#escape(event) },
    this.#hint, this.#form);

  /** `leave` is where the focus goes at the end. */
  constructor(id, picture, socket, tell, leave) {
    Object.assign(this, { id, picture, socket, tell, leave });
  }

  get #isPicked() {
    return !this.#form.hidden;
  }

  begin() {
    this.#round += 1;
    this.#frame.hidden = this.#form.hidden = true;
    this.element.hidden = this.panel.hidden = this.#hint.hidden = false;
    this.element.focus({ preventScroll: true });
  }

  end() {
    if (this.element.hidden) return;
    this.#round += 1;
    this.element.hidden = this.panel.hidden = true;
    this.#field.value = "";
    this.leave();
  }

  #cancel() {
    return el("button", { type: "button", onclick: () => this.end() }, "Cancel");
  }

  #escape(event) {
    if (event.key !== "Escape") return false;
    event.stopPropagation();
    this.end();
    return true;
  }

  #key(event) {
    if (this.#escape(event) || this.#isPicked) return;
    const { width = 0, height = 0 } = this.picture.head ?? {};
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (!(dx || dy || event.key === "Enter")) return;
    event.preventDefault();
    const from = this.#at ?? { x: width / 2, y: height / 2 };
    this.#at = { x: Math.min(Math.max(from.x + dx * STEP_PX, 0), width), y: Math.min(Math.max(from.y + dy * STEP_PX, 0), height) };
    this.#ask(event.key === "Enter");
  }

  #move(event, picks = false) {
    if (!this.picture.head?.width || this.#isPicked) return;
    this.#at = this.picture.at(event);
    this.#ask(picks);
  }

  /** Asks for the element there; of several moves while an answer is awaited, the last counts. */
  async #ask(picks) {
    if (this.#isPicking || (this.#isAsked && !picks)) return;
    this.#isAsked = true;
    this.#isPicking = picks;
    const [asked, round] = [this.#at, this.#round];
    try {
      const found = await this.socket.ask("point", { pageId: this.id, at: asked, picks });
      if (round === this.#round && !this.#isPicked) this.#draw(found, picks);
    } catch (error) {
      if (picks || error.code !== "TIMEOUT") this.tell(error.message, true);
    }
    this.#isAsked = this.#isPicking = false;
    if (!picks && this.#at !== asked && !this.element.hidden && !this.#isPicked) this.#ask(false);
  }

  #draw({ box, role, name, ref, about }, picks) {
    this.#frame.hidden = !box;
    if (!box) return picks && this.tell("Nothing here: press an element.", true);
    this.picture.cover(this.#frame, box);
    const words = [role, role && name ? `“${name}”` : name].filter(Boolean).join(" ");
    write(this.#frame.firstElementChild, words);
    this.#frame.classList.toggle("high", box.y / this.picture.head.height < 0.08);
    this.#frame.classList.toggle("far", box.x / this.picture.head.width > 0.5);
    if (!picks) return;
    this.#about = about;
    write(this.#name, `${words}${ref ? ` (${ref})` : ""}`);
    this.#form.hidden = false;
    this.#hint.hidden = true;
    this.#field.focus();
  }

  async #send() {
    const sent = this.socket.told("tell_agent", { message: this.#field.value, pageId: this.id, about: this.#about });
    if (await report(sent, this.tell)) this.end();
  }
}
