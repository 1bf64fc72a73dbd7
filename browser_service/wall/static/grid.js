// Shows the wall: requests on top, then the pages of agents, of people, and the parked ones.

import { Agents } from "./agents.js";
import { arrange, el, say, write } from "./dom.js";
import { call } from "./settings.js";
import { YourTabs } from "./tabs.js";
import { Tile } from "./tile.js";
import { ASKS_ANYBODY, KINDS, owner, present, since } from "./words.js";

const GROUPS = { agents: "Agents’ pages", people: "People’s pages", parked: "Parked" };
const FEW = 6;
const MANY = 12;
const TICK_MS = 1000;
const drawnFps = (count) => (count > FEW ? 2 : 4); // of many, nobody follows each

export class Grid {
  #tiles = new Map();
  #sections = new Map();
  #requests = el("ul", { className: "requests" });
  #asked = el("section", { className: "asked", "aria-labelledby": "asked" },
    el("h2", { id: "asked" }), this.#requests);
  #empty = el("div", { className: "nothing" });
  #visible = new Set();
  #known = new Set();
  #count = 0;
  #isBegun = false;

  constructor(model, onDrawn, socket, tell, threads) {
    this.model = model;
    this.yours = new YourTabs(model, socket, tell);
    this.agents = new Agents(model, socket, tell, threads);
    this.onDrawn = onDrawn;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#visible[isIntersecting ? "add" : "delete"](target.dataset.page);
      this.onDrawn();
    }, { rootMargin: "80px" });
    this.element = el("main", { className: "grid", tabIndex: -1 }, el("h1", { className: "unseen" }, "All pages"), this.#asked, this.agents.element);
    for (const [name, title] of Object.entries(GROUPS)) {
      const list = el("ul", { className: "tiles" });
      const count = el("span", { className: "count" });
      const section = el("section", { className: `group ${name}`, "aria-labelledby": `group-${name}` },
        el("h2", { id: `group-${name}` }, title, " ", count), list);
      this.#sections.set(name, { section, list, count });
      this.element.append(section);
    }
    this.element.append(this.yours.element, this.#empty);
    setInterval(() => document.hidden || this.#tick(), TICK_MS);
  }

  update(filter) {
    const { pages, requests } = this.model;
    this.agents.update();
    for (const [id, tile] of this.#tiles) {
      if (pages.has(id)) continue;
      this.observer.unobserve(tile.element);
      this.#visible.delete(id);
      this.#tiles.delete(id);
    }
    const groups = { agents: [], people: [], parked: [] };
    const open = [...pages.values()].filter(({ person }) => person?.kind !== "tab"); // which only stand for one that is asked for
    for (const page of open) {
      const tile = this.#tiles.get(page.id) ?? this.#make(page);
      tile.update(page);
      if (matches(page, filter)) groups[page.group].push(tile);
    }
    for (const [name, { section, list, count }] of this.#sections) {
      const tiles = groups[name].sort(inOrder);
      arrange(list, tiles.map((tile) => tile.element));
      section.hidden = !tiles.length;
      write(count, String(tiles.length));
    }
    this.element.classList.toggle("many", Object.values(groups).flat().length > MANY);
    this.#ask(requests);
    this.#sayNothing(present(this.model.agents), open.length, Object.values(groups).flat().length);
  }

  frame(head, blob) {
    const tile = this.#tiles.get(head.pageId);
    const before = tile?.picture.zoom;
    tile?.frame(head, blob);
    if (tile?.picture.zoom !== before) this.onDrawn();
  }

  #tick() {
    for (const id of this.#visible) this.#tiles.get(id)?.tick();
    for (const each of this.#requests.querySelectorAll("[data-at]")) write(each, since(each.dataset.at));
  }

  /** Returns the link to a page, if its tile is shown. */
  link(id) {
    return [...this.element.querySelectorAll(".tile")].find(({ dataset }) => dataset.page === id)?.querySelector(".title");
  }

  /** Moves the focus from tile to tile, as they are seen. */
  step(key) {
    const links = [...this.element.querySelectorAll(".title")];
    const here = links.indexOf(document.activeElement);
    const center = (link) => link.closest(".tile").getBoundingClientRect();
    const [from, isUpright] = [center(links[here]), ["ArrowUp", "ArrowDown"].includes(key)];
    const sign = ["ArrowDown", "ArrowRight"].includes(key) ? 1 : -1;
    if (!isUpright) return links[here + sign]?.focus();
    const rows = links.map((link) => ({ link, at: center(link) })).filter(({ at }) => sign * (at.top - from.top) > 1);
    const nearest = ({ at }) => 10 * Math.abs(at.top - from.top) + Math.abs(at.left - from.left);
    rows.sort((a, b) => nearest(a) - nearest(b))[0]?.link.focus();
  }

  /** Returns which tiles are in view, and how large. */
  drawn() {
    const tiles = {};
    for (const id of this.#visible) {
      const { across, zoom } = this.#tiles.get(id).picture;
      const width = across * zoom;
      if (width) tiles[id] = { width: rounded(width), fps: drawnFps(this.#visible.size) };
    }
    return tiles;
  }

  #make(page) {
    const tile = new Tile(page, ++this.#count, this.model.viewer.readOnly ? null : () => this.agents.halt(page.id, "go_on"));
    this.#tiles.set(page.id, tile);
    this.observer.observe(tile.element);
    return tile;
  }

  #ask(requests) {
    this.#asked.hidden = !requests.length;
    write(this.#asked.firstElementChild, this.model.viewer.readOnly ? "They ask for a person" : "They ask for you");
    const text = JSON.stringify(requests);
    if (text === this.asked) return;
    this.asked = text;
    this.#requests.replaceChildren(...requests.map(card));
    const fresh = requests.filter(({ id }) => !this.#known.has(id));
    for (const { id } of fresh) this.#known.add(id);
    if (fresh.length && this.#isBegun) call(fresh.filter(({ mayAnswer }) => mayAnswer));
    this.#isBegun = true;
    if (fresh.length) say(fresh.map(({ askedBy, kind, mayAnswer }) => `${askedBy} ${(mayAnswer ? KINDS : ASKS_ANYBODY)[kind]}`).join(". "));
  }

  #sayNothing(here, all, shown) {
    this.#empty.hidden = shown > 0;
    if (shown) return;
    const who = here.length ? `Here now: ${here.join(", ")}. ` : "";
    this.#empty.replaceChildren(...(all
      ? [el("h2", {}, "Nothing matches"), el("p", { className: "quiet" }, `${all} pages are open; none fits what you look for.`)]
      : [el("h2", {}, "No page is open"), el("p", { className: "quiet" }, `${who}As soon as an agent opens a page, it appears here.`),
        el("p", { className: "quiet" }, "A chat client is set up by ", el("code", {}, "browse-together install claude-code"))]));
  }
}

export function card(request) {
  return el("li", { className: "request", style: { "--owner": request.colour && `var(--${request.colour})` } },
    el("div", {},
      el("p", { className: "who" }, el("span", { className: "owner" }, request.askedBy), ` ${(request.mayAnswer ? KINDS : ASKS_ANYBODY)[request.kind]}`,
        request.origin && [" at ", el("b", {}, request.origin)]),
      request.message && el("p", { className: "message" }, request.message),
      el("p", { className: "quiet small" }, `${request.pageId} · `, el("span", { "data-at": request.askedAt }, since(request.askedAt)),
        request.joinedBy.length ? ` · with ${request.joinedBy.join(", ")}` : "")),
    el("div", { className: "choices" },
      el("a", { className: `button ${request.mayAnswer ? "first" : ""}`, href: `#/page/${encodeURIComponent(request.pageId)}` }, request.mayAnswer ? "Answer" : "Look")));
}

function matches(page, { text, session, who }) {
  if (session && page.session !== session) return false;
  if (who && owner(page) !== who && page.owner?.label !== who) return false;
  const words = [page.id, page.title, page.url, page.session, page.host ?? "", owner(page)].join(" ").toLowerCase();
  return words.includes(text.toLowerCase());
}

/** What waits for a person is first; else each page stays where it came. */
const inOrder = (a, b) => b.waits - a.waits || a.number - b.number;
const rounded = (width) => Math.min(1280, Math.max(160, Math.ceil((width * Math.min(devicePixelRatio, 2)) / 80) * 80));
