// Shows the tabs of the person's own browser: which are shared, with whom, and the buttons to share and to take back.

import { arrange, differs, el, paint, write } from "./dom.js";
import { host } from "./words.js";

const ASKED_EVERY_MS = 2000;
const RARELY_MS = 10000; // while no browser is attached to
const FEW = 4;
const EMPTY = "about:blank";
const WAYS = { act: "Share", read: "Share to read" };

/** Asks for the tabs as long as it is shown, and passes them on. */
class Tabs {
  #timer = 0;
  #isOn = false;

  constructor(socket, take) {
    Object.assign(this, { socket, take });
  }

  show(isOn) {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    clearTimeout(this.#timer);
    if (isOn) this.ask();
  }

  async ask() {
    const found = document.hidden ? null : await this.socket.ask("tabs").catch(() => null); // what is lost or over is told elsewhere
    clearTimeout(this.#timer);
    if (!this.#isOn) return;
    if (found?.attachments.length < 2) for (const tab of found.tabs) tab.sessionId = ""; // it says nothing then
    if (found) this.take(found);
    const isThere = document.hidden || found?.attachments.length > 0 || found?.tabs.length > 0;
    this.#timer = setTimeout(() => this.ask(), isThere ? ASKED_EVERY_MS : RARELY_MS);
  }
}

/** One tab: its title and site, and what may be done with it. `press` takes what, and the tab, and throws what is against it. */
class Row {
  #title = el("span", { className: "cut", dir: "auto" });
  #place = el("span", { className: "quiet small cut" });
  #buttons = el("span", { className: "ways" });
  element = el("li", { className: "tab" }, el("span", { className: "names" }, this.#title, this.#place), this.#buttons);

  constructor(press, isPicked) {
    Object.assign(this, { press, isPicked });
  }

  update(tab, colour) {
    if (!differs(this.element, tab, colour)) return;
    const isShared = Boolean(tab.pageId) && !this.isPicked;
    this.element.classList.toggle("shared", isShared);
    paint(this.element, isShared && colour);
    this.#offer(tab, isShared ? [["back", "Take back"]] : Object.entries(WAYS));
  }

  #offer(tab, ways) {
    this.element.classList.remove("linked");
    const title = tab.url === EMPTY ? "An empty tab" : tab.title || host(tab.url);
    write(this.#title, title);
    write(this.#place, [tab.sessionId, tab.url !== EMPTY && host(tab.url), ...sharing(tab)].filter(Boolean).join(" · "));
    const button = ([what, text]) => el("button", { type: "button", "aria-label": `${text}: ${title}`, onclick: () => this.#do(what, tab) }, text);
    this.#buttons.replaceChildren(...ways.map(button));
  }

  async #do(what, tab, isLinked = false) {
    for (const each of this.#buttons.children) each.disabled = true;
    try {
      await this.press(what, tab, isLinked);
    } catch (error) {
      if (error.field === "linked" && !isLinked) return this.#askLinked(what, tab, error.reason);
    }
    for (const each of this.#buttons.children) each.disabled = false;
  }

  /** Asks whether to share it with the tabs whose scripts can reach it. */
  #askLinked(what, tab, reason) {
    write(this.#place, reason);
    this.element.classList.add("linked");
    this.#buttons.replaceChildren(
      el("button", { type: "button", onclick: () => this.#do(what, tab, true) }, "Share them together"),
      el("button", { type: "button", onclick: () => this.#offer(tab, Object.entries(WAYS)) }, "Cancel"));
  }
}

const sharing = ({ pageId, access, withLabel }) => (pageId
  ? [`shared as ${pageId}`, access === "read" && "to read", withLabel && `with ${withLabel} alone`].filter(Boolean) : []);

/** A list of tabs, shared ones first; of many, the first few until more are asked for. */
class List {
  #rows = new Map();
  #list = el("ul", { className: "tablist" });
  #more = el("button", { type: "button", className: "plain more", onclick: () => {
    this.#isWhole = true;
    this.#fold(Infinity);
  } });
  #isWhole = false;
  element = el("div", {}, this.#list, this.#more);

  constructor(press, isPicked) {
    Object.assign(this, { press, isPicked });
  }

  update(tabs, colourOf = () => null) {
    const shared = tabs.filter(({ pageId }) => pageId);
    const sorted = this.isPicked ? tabs : [...shared, ...tabs.filter(({ pageId }) => !pageId)];
    this.#rows = new Map(sorted.map(({ tabId }) => [tabId, this.#rows.get(tabId) ?? new Row(this.press, this.isPicked)]));
    for (const tab of tabs) this.#rows.get(tab.tabId).update(tab, colourOf(tab.pageId));
    arrange(this.#list, [...this.#rows.values()].map(({ element }) => element));
    write(this.#more, `Show all ${tabs.length}`);
    const isWhole = this.isPicked || this.#isWhole || tabs.length <= shared.length + FEW + 1;
    this.#fold(isWhole ? tabs.length : shared.length + FEW);
  }

  #fold(most) {
    [...this.#rows.values()].forEach(({ element }, place) => { element.hidden = place >= most; });
    this.#more.hidden = this.#rows.size <= most;
  }
}

/** Says why browsers cannot be used, if so. */
function sayStanding(element, attachments) {
  const barred = attachments.filter(({ state }) => state !== "attached");
  element.hidden = !barred.length;
  write(element, barred.flatMap(({ words, nextStep }) => [words, nextStep]).filter(Boolean).join(" "));
}

/** Names the browsers, each with its profile, and of several the sessions that have them. */
const named = (attachments) => attachments.map(({ browser, profile, sessionId }) => (
  [attachments.length > 1 && `${sessionId}:`, browser, profile && `(${profile})`].filter(Boolean).join(" "))).join(" · ");

/** The wall's section *Your tabs*. */
export class YourTabs {
  #count = el("span", { className: "count" });
  #browser = el("span", { className: "quiet small" });
  #standing = el("p", { className: "standing", role: "status", hidden: true });
  #again = el("div", { className: "ways" });
  #empty = el("p", { className: "quiet small", hidden: true }, "You have no tab open there.");

  constructor(model, socket, tell) {
    Object.assign(this, { model, tell, socket });
    this.tabs = new Tabs(socket, (found) => this.#take(found));
    this.list = new List((what, { tabId }, linked) => this.#do(socket.ask(...(what === "back" ? ["unshare", { tabId }] : ["share", { tabId, access: what, linked }]))), false);
    this.element = el("section", { className: "yours", "aria-labelledby": "yours", hidden: true },
      el("h2", { id: "yours" }, "Your tabs ", this.#count, " ", this.#browser), this.#standing, this.#again, this.#empty, this.list.element);
  }

  show(isOn) {
    this.tabs.show(isOn && !this.model.viewer.readOnly);
    if (!isOn || this.model.viewer.readOnly) this.element.hidden = true;
  }

  #take({ attachments, tabs }) {
    const lost = attachments.filter(({ state }) => state === "refused" || state === "gone");
    this.element.hidden = !attachments.length && !tabs.length;
    write(this.#count, tabs.length ? String(tabs.length) : "");
    const kept = tabs.filter(({ pageId }) => !pageId).length;
    write(this.#browser, [named(attachments), tabs.length && (kept ? `agents do not see ${kept === tabs.length ? "them" : `${kept} of them`}` : "all are shared")].filter(Boolean).join(" · "));
    this.#standing.dataset.state = attachments.find(({ state }) => state !== "attached")?.state ?? "attached";
    sayStanding(this.#standing, attachments);
    this.#offer(lost.map(({ sessionId }) => sessionId), attachments.length > 1);
    this.#empty.hidden = !attachments.some(({ state }) => state === "attached") || tabs.length > 0;
    this.list.update(tabs, (pageId) => this.model.pages.get(pageId)?.owner?.colour);
  }

  /** Offers to attach again to the browsers that are not attached to, if these are others than before. */
  #offer(sessionIds, isOneOfSeveral) {
    if (!differs(this.#again, sessionIds)) return;
    const button = (sessionId) => el("button", { type: "button", className: "again", onclick: () => this.#do(this.socket.ask("attach", { sessionId })) },
      `Attach again${isOneOfSeveral ? `: ${sessionId}` : ""}`);
    this.#again.replaceChildren(...sessionIds.map(button));
  }

  async #do(asked) {
    try {
      this.tell(await asked);
    } catch (error) {
      if (error.field === "linked") throw error;
      this.tell(error.message, true);
    }
    await this.tabs.ask();
  }
}

/** Lets the person choose one of their tabs for an agent that asks. `done` gets the promise of the reply. */
export class Picker {
  #standing = el("p", { className: "standing", role: "status", hidden: true });
  #wait = el("p", { className: "quiet small" }, "Your tabs are coming …");

  constructor(requestId, socket, done) {
    Object.assign(this, { socket, done });
    this.list = new List(async (what, { tabId }, linked) => {
      const shared = this.socket.ask("share", { tabId, access: what, linked, requestId });
      this.done(shared);
      await shared;
    }, true);
    this.tabs = new Tabs(socket, ({ attachments, tabs }) => {
      this.#wait.hidden = tabs.length > 0;
      write(this.#wait, "You have no tab open there. Open the one that is meant; it appears here.");
      sayStanding(this.#standing, attachments);
      this.list.update(tabs);
    });
    this.element = el("div", { className: "picker" }, this.#standing, this.#wait, this.list.element);
    this.tabs.show(true);
  }

  leave() {
    this.tabs.show(false);
  }
}
