// Lists what was done on a page, with small pictures of it from before and after, and the point that was meant.

import { el, write } from "./dom.js";
import { UNPICTURED, aim, deed, duration, host, outcome, refusal, time } from "./words.js";

const MOST_ROWS = 300;
const ASKED_AT_ONCE = 8;
const ASKED_AFTER_MS = 400; // a picture is made behind the reply
const AGAIN_MS = [900, 2500];
const FRESH_MS = 5000;
const AT_ONCE_MS = 500; // after which an act begins: the one before it gets no picture

export class Timeline {
  #rows = new Map();
  #wanted = new Set();
  #due = 0;
  #refused = {}; // the newest line, if it is of a refusal, and how often that came
  #seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) this.#want(target.dataset.row);
  });
  element = el("ol", { className: "rows" });
  large = el("dialog", { className: "shots-large", "aria-label": "Before and after", onclick: (event) => event.target === this.large && this.large.close() });

  /** `ask` returns the pictures of acts, by their ids. */
  constructor(ask) {
    this.ask = ask;
  }

  take({ whole, rows }) {
    if (whole) this.clear();
    for (const row of rows) {
      if (this.#repeats(row)) continue;
      const element = this.#act(row);
      element.dataset.row = row.id;
      this.#rows.set(String(row.id), { row, element, tries: 0, at: whole ? Date.parse(row.time) : Date.now() });
      this.element.prepend(element);
      this.#seen.observe(element);
    }
    while (this.element.children.length > MOST_ROWS) {
      this.#rows.delete(this.element.lastElementChild.dataset.row);
      this.element.lastElementChild.remove();
    }
  }

  /** Counts a refusal that the newest line tells already. */
  #repeats(row) {
    const key = refusal(row, aim(row));
    const isAgain = Boolean(key) && key === this.#refused.key;
    this.#refused = { key, times: isAgain ? this.#refused.times + 1 : 1 };
    if (!isAgain) return false;
    const newest = this.element.firstElementChild;
    write(newest.querySelector("time"), time(row.time));
    write(newest.querySelector(".outcome"), `${outcome(row)} · ${this.#refused.times} times`);
    return true;
  }

  /** Returns what was done, the oldest first. */
  get acts() {
    return [...this.#rows.values()].map(({ row }) => row);
  }

  /** Shows pictures that have come. Those of acts that were just done may still be made. */
  #show(pictures) {
    for (const [id, found] of Object.entries(pictures)) {
      const known = this.#rows.get(id);
      if (!known || known.shown) continue;
      known.shown = true;
      known.element.append(this.#shots(known.row, found));
    }
    this.#sayFollowed();
  }

  /** Says of acts without a picture that the next one followed at once, where that is why. */
  #sayFollowed() {
    let next = null;
    for (const known of [...this.#rows.values()].reverse()) {
      const { row, tries, element, shown } = known;
      const began = next && Date.parse(next.row.time) - next.row.durationMs;
      if (!shown && tries > AGAIN_MS.length && next?.shown && began - Date.parse(row.time) <= AT_ONCE_MS) {
        known.shown = true;
        element.append(unpictured("followed"));
      }
      next = known;
    }
  }

  clear() {
    this.#rows.clear();
    this.#refused = {};
    this.#wanted.clear();
    this.#seen.disconnect();
    this.element.replaceChildren();
  }

  leave() {
    clearTimeout(this.#due);
    this.clear();
    this.large.remove();
  }

  #want(id) {
    const known = this.#rows.get(id);
    if (!known || known.shown || known.tries > AGAIN_MS.length) return;
    this.#wanted.add(id);
    this.#due ||= setTimeout(() => this.#askNow(), ASKED_AFTER_MS);
  }

  #askNow() {
    const ids = [...this.#wanted].slice(0, ASKED_AT_ONCE);
    for (const id of ids) {
      this.#wanted.delete(id);
      const known = this.#rows.get(id);
      if (!known) continue;
      const isFresh = Date.now() - known.at < FRESH_MS;
      if (isFresh && known.tries < AGAIN_MS.length) setTimeout(() => this.#want(id), AGAIN_MS[known.tries]);
      known.tries += isFresh ? 1 : AGAIN_MS.length + 1;
    }
    if (ids.length) this.ask(ids.map(Number)).then((pictures) => this.#show(pictures), () => {}); // without them, they are asked for again
    this.#due = this.#wanted.size ? setTimeout(() => this.#askNow(), ASKED_AFTER_MS) : 0;
  }

  #act(row) {
    const failed = row.outcome !== "ok";
    const words = aim(row);
    const did = row.arguments?.stop === true ? "stopped it" : deed(row);
    return el("li", { className: `act${failed ? " failed" : ""}`, style: { "--owner": row.colour && `var(--${row.colour})` } },
      el("p", { className: "first-line" }, el("time", { className: "mono quiet" }, time(row.time)), el("span", { className: "owner cut" }, row.client),
        el("span", { className: "mono quiet took" }, duration(row.durationMs))),
      el("p", { className: "cut", title: words }, el("b", { className: "verb" }, did), " ", el("span", { className: "mono words" }, words)),
      failed && el("p", { className: "outcome", title: row.outcome }, outcome(row)),
      row.urlAfter && el("p", { className: "quiet small cut" }, `→ ${row.urlAfter}`),
      ...(row.requests ?? []).slice(0, 4).map((each) => el("p", { className: "mono small quiet cut" }, `${each.method} ${host(each.url)}${path(each.url)} → ${each.status ?? each.failure ?? "?"}`)));
  }

  #shots(row, { before, after, target, unseen }) {
    if (unseen) return unpictured(unseen);
    const marked = before ?? after;
    const shots = [["Before", before], ["After", after]].filter(([, shot]) => shot);
    const views = (isLarge) => shots.map(([name, shot]) => el("figure", { className: "shot" },
      el("span", { className: "frame", style: { "--ratio": (shot.width / shot.height).toFixed(4) } },
        el("img", { src: `data:image/${shot.data.startsWith("/9j/") ? "jpeg" : "webp"};base64,${shot.data}`, alt: isLarge ? `${name}: the page` : "" }),
        shot === marked && target && mark(target, shot)),
      el("figcaption", {}, name)));
    const open = () => {
      this.large.replaceChildren(
        el("header", {}, el("h2", { className: "cut" }, `${row.client} ${deed(row)}`), el("button", { type: "button", className: "plain", onclick: () => this.large.close() }, "Close")),
        el("div", { className: "shots" }, views(true)));
      this.large.showModal();
    };
    return el("button", { type: "button", className: "shots plain", onclick: open }, el("span", { className: "unseen" }, `Pictures of what ${row.client} did: `), views(false));
  }
}

const unpictured = (why) => el("p", { className: "quiet small" }, UNPICTURED[why]);

function mark({ x, y, width, height }, shot) {
  const [left, top] = [(x + width / 2) / shot.width, (y + height / 2) / shot.height];
  const isSeen = [left, top].every((part) => part >= 0 && part <= 1);
  return isSeen && el("span", { className: "mark", style: { left: `${(100 * left).toFixed(2)}%`, top: `${(100 * top).toFixed(2)}%` } });
}

export function path(url) {
  try {
    return new URL(url).pathname;
  } catch {
    return "";
  }
}
