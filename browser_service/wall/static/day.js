// Shows the past day: which chats were there and on which pages, what people were asked, what was downloaded; and where sessions are signed in.

import { differs, el } from "./dom.js";
import { saveCopy, openWindow } from "./files.js";
import { capital, clock, host, toPage } from "./words.js";

const ASKED_EVERY_MS = 3000;
const ASKED = { login: "asked for a sign-in", code: "asked for a code", decision: "asked for a decision", tab: "asked for a tab", other: "asked for you" };
const ENDS = { expired: "nobody came", withdrawn: "taken back", closed: "the page was closed" };
const STATES = { running: "on its way", failed: "did not come", cancelled: "was cancelled" };

export class DayView {
  id = null; // it is no page
  #timer = 0;
  #lists = el("div", { className: "lists" }, el("p", { className: "quiet" }, "One moment …"));

  constructor(socket, tell) {
    Object.assign(this, { socket, tell });
    this.element = el("main", { className: "day", tabIndex: -1 },
      el("header", {}, el("a", { className: "button plain back", href: "#/", "aria-label": "Back to the wall" }, "←"), el("h1", {}, "The past day")),
      el("p", { className: "quiet small" }, "A replay has pictures of what somebody watched or recorded then; BROWSE_TIMELINE changes that."),
      this.#lists);
    this.#timer = setInterval(() => document.hidden || this.#ask(), ASKED_EVERY_MS);
    this.#ask();
  }

  leave() {
    clearInterval(this.#timer);
  }

  async #ask() {
    let found;
    try {
      found = await this.socket.ask("day");
    } catch (error) {
      if (!this.#lists.querySelector("section")) this.#lists.replaceChildren(el("p", { className: "problem", role: "alert" }, error.message));
      return;
    }
    if (!differs(this.#lists, found)) return;
    const { chats, requests, downloads, logins } = found;
    const focused = this.#lists.contains(document.activeElement) && named(document.activeElement);
    this.#lists.replaceChildren(
      list("Chats and their pages", chats, (each) => this.#chat(each), "Nobody did anything."),
      list("Asked of people", requests, asked, "Nothing was asked."),
      list("Downloads", downloads, (each) => this.#download(each), "Nothing was downloaded."),
      signedIn(logins));
    if (focused) [...this.#lists.querySelectorAll("a, button")].find((each) => named(each) === focused)?.focus({ preventScroll: true });
  }

  #replay(what, of, name) {
    return el("button", { type: "button", "aria-label": `Replay ${name}`, onclick: () => openWindow(this.socket, what, of, this.tell) }, "Replay");
  }

  #chat({ of, label, colour, acts, failed, from, until, pages }) {
    const facts = `${many(acts, "act")}${failed ? `, ${failed} failed` : ""} · ${span(from, until)}`;
    return [row(colour, label || "An agent", facts, "", this.#replay("chat", of, label)), ...pages.map((each) => this.#page(each))];
  }

  #page({ id, session, acts, until, open }) {
    const name = open ? el("a", { href: toPage(id) }, id) : id;
    const facts = [many(acts, "act"), clock(until), !open && "closed", session !== "default" && session].filter(Boolean).join(" · ");
    return Object.assign(row(null, name, facts, "", this.#replay("page", id, id)), { className: "tab of-chat" });
  }

  #download({ by, colour, name, pageId, state, size, file, why, at }) {
    const facts = [by, `from ${pageId}`, size && weight(size), clock(at), STATES[state], why].filter(Boolean).join(" · ");
    const buttons = !file ? [] : [
      el("button", { type: "button", "aria-label": `Open ${name}`, onclick: () => openWindow(this.socket, "file", file, this.tell) }, "Open"),
      el("button", { type: "button", "aria-label": `Save ${name}`, onclick: () => saveCopy(this.socket, file, this.tell) }, "Save")];
    return row(colour, name, facts, "", ...buttons);
  }
}

function asked({ kind, by, message, pageId, origin, ended, answeredBy, chosen, at }) {
  const who = answeredBy || "Somebody"; // by the link of a request, without a name
  const how = ended === "done" ? `${who} answered` : ended === "refused" ? `${who} declined` : capital(ENDS[ended] ?? ended);
  return row(null, chosen || how, [chosen && how, `${by} ${ASKED[kind] ?? ASKED.other}`, clock(at), pageId, host(origin)].filter(Boolean).join(" · "), message);
}

function signedIn(logins) {
  return el("section", { "aria-label": "Signed in" }, el("h2", {}, "Signed in ", el("span", { className: "count" }, logins.length || "")),
    logins.length ? el("ul", { className: "tablist" }, logins.map(login)) : el("p", { className: "quiet small" }, "No cookie looks like a login."));
}

function login({ site, session, endsAt, overAt }) {
  const until = endsAt ? `until ${new Date(endsAt * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}` : "until the browser forgets it";
  return row(null, site, [until, session !== "default" && session, overAt && `seemed to be over at ${clock(overAt)}`].filter(Boolean).join(" · "), "");
}

/** Lists things under the hours in which they ended, the latest first. */
function list(title, all, make, empty) {
  const hours = Map.groupBy(all, ({ at, until = at }) => new Date(until * 1000).setMinutes(0, 0, 0));
  return el("section", { "aria-label": title }, el("h2", {}, title, " ", el("span", { className: "count" }, all.length || "")),
    all.length ? [...hours].map(([hour, those]) => [el("h3", { className: "quiet small" }, clock(hour / 1000)), el("ul", { className: "tablist" }, those.map(make).flat())]).flat() : el("p", { className: "quiet small" }, empty));
}

const row = (colour, name, facts, words, ...buttons) => el("li", { className: "tab", style: { "--owner": colour && `var(--${colour})` } },
  el("span", { className: "names" }, el("span", { className: colour ? "owner cut" : "cut", dir: "auto" }, name), words && el("span", { className: "words" }, words), el("span", { className: "quiet small" }, facts)),
  buttons.length > 0 && el("span", { className: "ways" }, buttons));

const named = (element) => element.ariaLabel ?? element.textContent;
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const span = (from, until) => (clock(from) === clock(until) ? clock(from) : `${clock(from)} to ${clock(until)}`);
const weight = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
