// Shows the wall: the agents at its side, what waits for the person on top, then the pages, and folded those that nobody uses.

import { Agents } from "./agents.js";
import { arrange, el, say, write } from "./dom.js";
import { command } from "./gate.js";
import { question } from "./question.js";
import { call } from "./settings.js";
import { report } from "./socket.js";
import { YourTabs } from "./tabs.js";
import { Tile } from "./tile.js";
import { ASKS_ANYBODY, KINDS, owner, since, toPage } from "./words.js";

const FEW = 4;
const SOME = 6;
const MANY = 12;
const TICK_MS = 1000;
const AGES_S = 5;
const ON_PAGE = { login: "Sign in there", tab: "Choose a tab" };
const drawnFps = (count) => (count > SOME ? 2 : 4); // of many, nobody follows each

export class Grid {
  #tiles = new Map();
  #cards = new Map();
  #requests = el("ul", { className: "requests" });
  #asked = el("section", { className: "asked", "aria-labelledby": "asked" },
    el("h2", { id: "asked" }), this.#requests);
  #used = el("ul", { className: "tiles", "aria-label": "Pages" });
  #unused = el("ul", { className: "tiles", "aria-labelledby": "unused" });
  #summary = el("summary", { id: "unused" });
  #folded = el("details", { className: "unused" }, this.#summary, this.#unused);
  #empty = el("div", { className: "nothing" });
  #visible = new Set();
  #isBegun = false;
  #unfolds = false;

  constructor(model, onDrawn, socket, tell, threads) {
    Object.assign(this, { model, onDrawn, socket, tell });
    this.yours = new YourTabs(model, socket, tell);
    this.agents = new Agents(model, socket, tell, threads, () => this.update(this.wanted));
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#visible[isIntersecting ? "add" : "delete"](target.dataset.page);
      this.onDrawn();
    }, { rootMargin: "80px" });
    this.element = el("main", { className: "grid", tabIndex: -1 }, el("h1", { className: "unseen" }, "All pages"), this.agents.element,
      el("div", { className: "shown" }, this.#asked, this.#used, this.#empty, this.#folded, this.yours.element));
    setInterval(() => document.hidden || !this.#isBegun || this.#tick(), TICK_MS);
  }

  update(wanted) {
    const { pages, requests } = this.model;
    this.wanted = wanted;
    this.agents.update();
    const open = new Map([...pages].filter(([, { person }]) => person?.kind !== "tab")); // which only stand for one that is asked for
    for (const [id, tile] of this.#tiles) {
      if (open.has(id)) continue;
      this.observer.unobserve(tile.element);
      this.#visible.delete(id);
      this.#tiles.delete(id);
    }
    for (const page of open.values()) (this.#tiles.get(page.id) ?? this.#make(page)).update(page);
    const shown = [...this.#tiles.values()].filter(({ page }) => matches(page, wanted) && this.agents.wants(page)).sort(inOrder);
    const [used, unused] = [false, true].map((isUnused) => shown.filter((tile) => tile.isUnused === isUnused));
    arrange(this.#used, used.map((tile) => tile.element));
    arrange(this.#unused, unused.map((tile) => tile.element));
    this.#fold(unused.length, !used.length || Boolean(wanted));
    this.element.classList.toggle("few", used.length <= FEW);
    this.element.classList.toggle("many", used.length > MANY);
    this.#ask(requests);
    this.#sayNothing(open.size, shown.length);
  }

  #fold(count, unfolds) {
    this.#folded.hidden = !count;
    write(this.#summary, count === 1 ? "1 unused page" : `${count} unused pages`);
    if (unfolds !== this.#unfolds) this.#folded.open = this.#unfolds = unfolds; // else as the person left it
  }

  frame(head, blob) {
    const tile = this.#tiles.get(head.pageId);
    if (!tile) return;
    const { zoom } = tile.picture;
    tile.frame(head, blob);
    if (tile.picture.zoom !== zoom) this.onDrawn();
  }

  #tick() {
    if (new Date().getSeconds() % AGES_S === 0) this.agents.update(); // which says "12 s ago"
    for (const id of this.#visible) this.#tiles.get(id)?.tick();
    if ([...this.#tiles.values()].some(({ element, isUnused }) => element.parentNode && isUnused !== this.#unused.contains(element))) this.update(this.wanted);
    for (const each of this.#requests.querySelectorAll("[data-at]")) write(each, since(each.dataset.at));
  }

  /** Returns the link to a page, if its tile is shown. */
  link(id) {
    return [...this.element.querySelectorAll(".tile")].find(({ dataset }) => dataset.page === id)?.querySelector(".title");
  }

  /** Moves the focus from tile to tile, as they are seen. */
  step(key) {
    const links = [...this.element.querySelectorAll(".title")].filter((link) => link.checkVisibility());
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
      if (across) tiles[id] = { ...size(across * Math.min(devicePixelRatio, 2), zoom), fps: drawnFps(this.#visible.size) };
    }
    return tiles;
  }

  #make(page) {
    const tile = new Tile(page, this.model.viewer.readOnly ? null : () => this.agents.halt(page.id, "go_on"));
    this.#tiles.set(page.id, tile);
    this.observer.observe(tile.element);
    return tile;
  }

  #ask(requests) {
    this.#asked.hidden = !requests.length;
    write(this.#asked.firstElementChild, this.model.viewer.readOnly ? "Waiting for a person" : "Waiting for you");
    const before = this.#cards;
    this.#cards = new Map(requests.map((asked) => {
      const text = JSON.stringify(asked);
      const known = before.get(asked.id);
      return [asked.id, known?.text === text ? known : { text, element: card(asked, (state, answer) => report(this.socket.ask("answer", { requestId: asked.id, state, answer }), this.tell)) }];
    }));
    arrange(this.#requests, [...this.#cards.values()].map(({ element }) => element));
    const fresh = requests.filter(({ id }) => !before.has(id));
    if (fresh.length && this.#isBegun) call(fresh.filter(({ mayAnswer }) => mayAnswer));
    this.#isBegun = true;
    if (fresh.length) say(fresh.map(({ askedBy, kind, mayAnswer }) => `${askedBy} ${(mayAnswer ? KINDS : ASKS_ANYBODY)[kind]}`).join(". "));
  }

  #sayNothing(all, shown) {
    this.#empty.hidden = shown > 0;
    if (shown) return;
    const here = this.model.agents.filter(({ since: from }) => from).map(({ label }) => label);
    const who = here.length ? `Here now: ${here.join(", ")}. ` : "";
    this.#empty.replaceChildren(...(all
      ? [el("h2", {}, "Nothing matches"), el("p", { className: "quiet" }, `${all} pages are open; none fits what you look for.`)]
      : [el("h2", {}, "No page is open"), el("p", { className: "quiet" }, `${who}As soon as an agent opens a page, it appears here. Set up a chat client with`),
        command("browse-together install claude-code")]));
  }
}

/** Shows a request. It is answered there, unless its page is needed for that. */
export function card(request, send) {
  const { id, pageId, askedAt, askedBy, kind, colour, mayAnswer } = request;
  const link = (text, className = "") => el("a", { className, href: toPage(pageId) }, text);
  const at = el("p", { className: "quiet small" }, link(pageId), " · ", el("span", { "data-at": askedAt }, since(askedAt)));
  return el("li", { className: "request", style: { "--owner": colour && `var(--${colour})` } }, ...(mayAnswer
    ? question(request, send, { at, instead: ON_PAGE[kind] && link(ON_PAGE[kind], "button first") })
    : [el("div", { className: "asks" }, el("p", {}, el("b", { className: "owner" }, askedBy), ` ${ASKS_ANYBODY[kind]}`), at)]));
}

function matches(page, text) {
  const words = [page.id, page.title, page.url, page.session, page.host ?? "", owner(page)].join(" ").toLowerCase();
  return words.includes(text.toLowerCase());
}

/** What waits for a person is first, then what agents act on; else each page stays where it came. */
const inOrder = (a, b) => b.waits - a.waits || b.isActedOn - a.isActedOn;
/** Returns how large a picture to ask for. A part that is shown close has each of its own pixels on one of the screen. */
const size = (width, zoom) => (zoom > 1 ? { width: Math.min(1920, Math.round(width * zoom)), close: true } : { width: Math.min(1280, Math.max(160, Math.ceil(width / 80) * 80)) });
