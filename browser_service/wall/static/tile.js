// Shows one page on the wall.

import { differs, el, paint, write } from "./dom.js";
import { Picture } from "./picture.js";
import { HOLDS, capital, clock, halted, host, owner, since, toPage } from "./words.js";

const ACTED_ON_S = 120;
const NO_WINDOW = ["parked", "resting"];

export class Tile {
  #title = el("a", { className: "title cut", dir: "auto" });
  #place = el("span", { className: "place quiet cut" });
  #whose = el("span", { className: "whose cut", dir: "auto" });
  #badges = el("p", { className: "badges" });

  /** `goOn` lets the page's agent go on, for who may. */
  constructor(page, goOn) {
    this.goOn = goOn;
    this.picture = new Picture(page.id);
    this.element = el("li", { className: "tile" }, this.picture.element,
      el("p", { className: "about" }, this.#title, this.#place, this.#whose), this.#badges);
    this.element.dataset.page = page.id;
    this.picture.goClose(this.element);
    this.#title.href = toPage(page.id);
    this.update(page);
  }

  /** Whether something on the page waits for a person. */
  get waits() {
    return Boolean(this.page.dialog) || Boolean(this.page.person && !["taken", "stopped"].includes(this.page.person.kind));
  }

  /** Whether agents act on it, or did so a moment ago: for a while, so that tiles do not change places with each act. */
  get isActedOn() {
    return this.picture.isActing || Date.now() / 1000 - (this.page.actedAt ?? 0) < ACTED_ON_S;
  }

  /** Whether it has no window now, or is nobody's. */
  get isUnused() {
    const { group, owner: of, person } = this.page;
    return !this.waits && !person && !this.isActedOn && (NO_WINDOW.includes(this.picture.head?.state) || group === "parked" || (group === "agents" && !of));
  }

  update(page) {
    this.page = page;
    this.picture.inHand(Boolean(page.person));
    paint(this.element, page.owner?.colour);
    this.element.classList.toggle("asks", this.waits);
    write(this.#title, page.locked ? page.id : page.title || page.id);
    this.#title.title = `${this.#title.textContent} · ${page.id}`;
    write(this.#place, page.locked ? "A private page" : host(page.url));
    if (page.locked) this.picture.state("locked");
    else if (page.group === "parked" && !this.picture.head) this.picture.state("parked");
    this.tick();
    this.#badge();
  }

  /** Says whose it is, and how long ago its last act was. */
  tick() {
    const { actedAt } = this.page;
    write(this.#whose, [owner(this.page), this.picture.isActing ? "now" : actedAt && since(actedAt)].filter(Boolean).join(" · "));
  }

  frame(head, blob) {
    if (this.page.locked) return;
    this.picture.frame(head, blob);
    this.tick();
    this.#badge();
  }

  #badge() {
    const page = this.page;
    const waiting = this.picture.head?.waiting?.length ?? 0;
    const halt = page.owner?.halt;
    const texts = [
      halt && ["person", capital(halted(halt))],
      page.person && ["person", HOLDS[page.person.kind]],
      page.dialog && ["dialog", "A dialog is open"],
      page.held && ["held", `Held until ${clock(page.held.until)}`],
      waiting > 0 && ["waiting", waiting === 1 ? "1 call waits" : `${waiting} calls wait`],
      page.private && ["private", "Private"],
      page.session !== "default" && ["session", `Session ${page.session}`],
      page.host && ["host", `On ${page.host}`],
    ].filter(Boolean);
    if (!differs(this.#badges, texts)) return;
    const badges = texts.map(([kind, words]) => el("span", { className: `badge ${kind}` }, words));
    if (halt && this.goOn) badges.splice(1, 0, el("button", { type: "button", className: "go-on", "aria-label": `Let ${page.owner.label} go on`, onclick: this.goOn }, "Go on"));
    this.#badges.replaceChildren(...badges);
    this.#badges.hidden = !texts.length;
  }
}
