// Draws a page: its newest picture, what is done there, and why there is none.

import { POINTED } from "./acts.js";
import { el, paint, write } from "./dom.js";
import { STATES, shown } from "./words.js";

const SHOWN_MS = 1500;
const LONG_MS = 3000; // an act that takes longer says for how long
const READABLE = 0.5; // so many pixels of a tile are one of the page, if the tile shows only a part of it
const CLOSEST = 2.2;
const TILE = 16 / 10;
const UNSEEN = ["hidden", "locked"];

export class Picture {
  #canvas = el("canvas", { width: 16, height: 10, role: "img" });
  #target = el("div", { className: "target", hidden: true });
  #label = el("span", { className: "doing", hidden: true });
  #why = el("span");
  #note = el("p", { className: "note", hidden: true }, this.#why);
  paper = el("div", { className: "paper" }, this.#canvas, this.#target);
  #newest = null;
  #began = 0;
  #saying = 0;
  #drawing = false;
  #fading = 0;
  #isInHand = false;
  #room = 0;
  #ratio = TILE;

  constructor(name) {
    this.#canvas.setAttribute("aria-label", `Picture of ${name}`);
    this.element = el("figure", { className: "picture empty" },
      this.paper, this.#label, this.#note);
    Object.assign(this, { name, head: null, zoom: 1 });
  }

  /** Goes near what the last act is aimed at, where the whole would be too small to read. `tile` is as wide as this, which
   * is told after each layout: to ask for it could cost one. */
  goClose(tile) {
    new ResizeObserver(([{ contentRect }]) => { this.#room = contentRect.width; }).observe(tile);
  }

  /** How wide the whole page is drawn, which covers its tile. */
  get across() {
    return this.#room * Math.max(1, this.#ratio / TILE);
  }

  /** Says whether a person has the page: what others did before is over then. */
  inHand(isInHand) {
    this.#isInHand = isInHand;
    if (isInHand && !this.isActing && !this.head?.act?.byPerson) this.#target.hidden = this.#label.hidden = true;
  }

  /** Whether something is done there now. */
  get isActing() {
    return this.head?.act?.state === "running";
  }

  frame(head, blob) {
    this.head = head;
    const isUnseen = head.state === "live" && head.dialog && !blob && this.element.classList.contains("empty");
    this.state(isUnseen ? "asks" : head.state);
    if (head.width > 0) this.element.style.setProperty("--ratio", (this.#ratio = head.width / head.height).toFixed(4));
    this.#mark(head);
    if (blob) {
      this.#newest = blob;
      this.#draw();
    }
  }

  /** Returns the point of the page that is under a pointer. */
  at({ clientX, clientY }) {
    const box = this.paper.getBoundingClientRect();
    const within = (value, most) => Math.round(Math.min(Math.max(value * most, 0), most) * 10) / 10;
    return { x: within((clientX - box.left) / box.width, this.head.width), y: within((clientY - box.top) / box.height, this.head.height) };
  }

  /** Lays an element over a box of the page. */
  cover(element, { x, y, width, height }) {
    const part = (value, whole) => `${((100 * value) / whole).toFixed(2)}%`;
    const { width: across, height: down } = this.head;
    Object.assign(element.style, { left: part(x, across), top: part(y, down), width: part(width, across), height: part(height, down) });
  }

  /** Shows why there is no picture, or none of now. */
  state(name) {
    this.element.dataset.state = name;
    const text = STATES[name] ?? "";
    write(this.#why, text);
    this.#note.hidden = !text;
    if (!UNSEEN.includes(name)) return;
    this.#newest = null;
    this.#canvas.getContext("bitmaprenderer").transferFromImageBitmap(null);
    this.element.classList.add("empty");
  }

  async #draw() {
    if (this.#drawing) return;
    this.#drawing = true;
    while (this.#newest) {
      const blob = this.#newest;
      this.#newest = null;
      try {
        const bitmap = await createImageBitmap(blob);
        if (UNSEEN.includes(this.element.dataset.state)) break;
        this.#canvas.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
        this.element.classList.remove("empty");
      } catch { /* a broken picture: the next one follows */ }
    }
    this.#drawing = false;
  }

  #mark({ act, width, height, colour }) {
    const doing = this.#isInHand && act?.state !== "running" && !act?.byPerson ? null : act;
    clearTimeout(this.#fading);
    clearTimeout(this.#saying);
    this.#label.hidden = !doing;
    const aimed = doing?.target && width > 0;
    this.#target.hidden = !aimed;
    if (!doing) return;
    paint(this.element, colour);
    this.#label.dataset.state = doing.state;
    this.#began = performance.now() - (doing.agoMs ?? 0);
    this.#say(doing);
    if (aimed || doing.state !== "running") this.#goNear(aimed ? doing.target : null, width, height);
    if (aimed) {
      this.cover(this.#target, doing.target);
      this.#target.dataset.state = doing.state;
      this.#target.classList.toggle("pointed", POINTED.includes(doing.action));
    }
    if (doing.state !== "running") this.#fading = setTimeout(() => { this.#target.hidden = this.#label.hidden = true; }, SHOWN_MS);
  }

  #say(doing) {
    const isRunning = doing.state === "running";
    const ms = performance.now() - this.#began;
    const isLong = isRunning && ms > LONG_MS;
    this.#label.classList.toggle("long", isLong);
    write(this.#label, `${doing.byPerson ? "You: " : ""}${shown(doing)}${isLong ? ` · ${Math.floor(ms / 1000)} s` : ""}`);
    if (isRunning) this.#saying = setTimeout(() => this.element.isConnected && this.#say(doing), isLong ? 1000 : LONG_MS - ms + 1);
  }

  #goNear(target, width, height) {
    if (!this.across) return;
    const most = target ? 0.9 / Math.max(target.width / width, target.height / height, 0.01) : 1;
    const wanted = (READABLE * width) / this.across;
    this.zoom = Math.max(1, Math.min(wanted, most, CLOSEST));
    const { style } = this.element;
    style.setProperty("--zoom", this.zoom.toFixed(4));
    style.setProperty("--x", target ? ((target.x + target.width / 2) / width).toFixed(4) : "0");
    style.setProperty("--y", target ? ((target.y + target.height / 2) / height).toFixed(4) : "0");
  }
}
