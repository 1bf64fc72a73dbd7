// Lists what was done on a page, with small pictures of it from before and after, and the point that was meant.

import { closes, el, sheet, write } from "./dom.js";
import { UNPICTURED, aim, deed, duration, host, outcome, path, refusal, time } from "./words.js";

const MOST_ROWS = 300;
const ASKED_AT_ONCE = 8;
const ASKED_AFTER_MS = [400, 900, 2500]; // a picture is made behind the reply
const FRESH_MS = 5000;
const AT_ONCE_MS = 500; // after which an act begins: the one before it gets no picture

export class Timeline {
  #rows = new Map();
  #refused = {}; // the newest line, if it is of a refusal, and how often that came
  #seen = new IntersectionObserver((entries) => {
    this.#ask(entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target.dataset.row));
  });
  element = el("ol", { className: "rows" });

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
      this.#rows.set(String(row.id), { row, element, at: whole ? Date.parse(row.time) : Date.now() });
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
  }

  /** Says of acts without a picture that the next one followed at once, where that is why. */
  #sayFollowed() {
    let next = null;
    for (const known of [...this.#rows.values()].reverse()) {
      const { row, isTried, element, shown } = known;
      const began = next && Date.parse(next.row.time) - next.row.durationMs;
      if (!shown && isTried && next?.shown && began - Date.parse(row.time) <= AT_ONCE_MS) {
        known.shown = true;
        element.append(unpictured("followed"));
      }
      next = known;
    }
  }

  clear() {
    this.#rows.clear();
    this.#refused = {};
    this.#seen.disconnect();
    this.element.replaceChildren();
  }

  /** Asks for the pictures of lines that are seen; of acts that were just done again, as they may still be made. */
  async #ask(seen, [wait, ...later] = ASKED_AFTER_MS) {
    await new Promise((done) => { setTimeout(done, wait); });
    const ids = seen.filter((id) => this.#rows.has(id) && !this.#rows.get(id).shown && !this.#rows.get(id).isTried);
    for (let at = 0; at < ids.length; at += ASKED_AT_ONCE) {
      this.#show(await this.ask(ids.slice(at, at + ASKED_AT_ONCE).map(Number)).catch(() => ({})));
    }
    const known = ids.map((id) => this.#rows.get(id)).filter(Boolean);
    const again = later.length ? known.filter(({ at }) => Date.now() - at < FRESH_MS) : [];
    for (const each of known) each.isTried = !again.includes(each);
    if (again.length) this.#ask(again.map(({ row }) => String(row.id)), later);
    this.#sayFollowed();
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
      row.urlAfter && row.urlAfter !== words && el("p", { className: "quiet small cut" }, `→ ${row.urlAfter}`),
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
    const open = () => { // a press beside it closes it, where browsers know that
      sheet("shots-large", `Before and after: ${row.client} ${deed(row)}`, closes("Close", "plain"), el("div", { className: "shots" }, views(true))).closedBy = "any";
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
