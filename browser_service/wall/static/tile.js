// Is one page on the wall.

import { el, paint, write } from "./dom.js";
import { Picture } from "./picture.js";
import { HOLDS, clock, host, owner } from "./words.js";

export class Tile {
  #owner = el("span", { className: "owner cut", dir: "auto" });
  #title = el("a", { className: "title cut", dir: "auto" });
  #place = el("span", { className: "place quiet cut" });
  #badges = el("p", { className: "badges" });

  constructor(page) {
    this.picture = new Picture(page.id);
    this.element = el("li", { className: "tile" }, this.picture.element,
      el("div", { className: "about" }, this.#owner, this.#title, this.#place, this.#badges));
    this.element.dataset.page = page.id;
    this.#title.href = `#/page/${encodeURIComponent(page.id)}`;
    this.update(page);
  }

  update(page) {
    this.page = page;
    paint(this.element, page.owner?.colour);
    this.element.classList.toggle("asks", Boolean(page.person));
    write(this.#owner, owner(page));
    write(this.#title, page.locked ? page.id : page.title || page.id);
    write(this.#place, page.locked ? "A private page" : `${page.id} · ${host(page.url)}`);
    if (page.locked) this.picture.state("locked");
    else if (page.group === "parked" && !this.picture.head) this.picture.state("parked");
    this.#badge();
  }

  frame(head, blob) {
    if (this.page.locked) return;
    this.picture.frame(head, blob);
    this.#badge();
  }

  #badge() {
    const page = this.page;
    const waiting = this.picture.head?.waiting?.length ?? 0;
    const texts = [
      page.person && ["person", HOLDS[page.person.kind]],
      page.dialog && ["dialog", "A dialog is open"],
      page.held && ["held", `Held until ${clock(page.held.until)}`],
      waiting > 0 && ["waiting", waiting === 1 ? "1 waits" : `${waiting} wait`],
      page.private && ["private", "Private"],
      page.session !== "default" && ["session", page.session],
      page.host && ["host", `On ${page.host}`],
    ].filter(Boolean);
    if (this.badges === JSON.stringify(texts)) return;
    this.badges = JSON.stringify(texts);
    this.#badges.replaceChildren(...texts.map(([kind, text]) => el("span", { className: `badge ${kind}` }, text)));
    this.#badges.hidden = !texts.length;
  }
}
