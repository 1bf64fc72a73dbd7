// Leads a page that one has in hand: back, forward, anew, to an address and to words in it. Opens pages of one's own.

import { closes, el, icon, sheet, write } from "./dom.js";
import { report } from "./socket.js";
import { toPage } from "./words.js";

const SESSIONS = { default: "The shared login", chrome: "Your own browser" };
const PLUS = "M10 4v12M4 10h12";
const WAYS = [["go_back", "Back", "M12.5 4.5 7 10l5.5 5.5"], ["go_forward", "Forward", "M7.5 4.5 13 10l-5.5 5.5"], ["reload_page", "Load it anew", "M16 10a6 6 0 1 1-1.8-4.3M16.5 3v3.5H13"]];
const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d+([/?#]|$))/i; // and not a host with its port
const IS_NEAR = /^(localhost|127\.|192\.168\.|10\.|\[|[^./]+(:\d+)?([/?#]|$))/i; // where few have certificates

/** Completes an address that was typed as into a browser. */
export const meant = (text) => {
  const typed = text.trim();
  return HAS_SCHEME.test(typed) ? typed : `${IS_NEAR.test(typed) ? "http" : "https"}://${typed}`;
};

/** Offers where the pages of a session have been. */
const offer = (list, { visited }) => list.replaceChildren(...visited.map(({ url, title }) => el("option", { value: url, label: title || url })));

const addressField = (id, more) => el("input", { type: "text", inputMode: "url", enterKeyHint: "go", maxLength: 8000, autocapitalize: "off", autocomplete: "off", spellcheck: false, list: id, ...more });

export class Address {
  #list = el("datalist", { id: "visited" });
  #field = addressField("visited", { className: "mono", "aria-label": "Address", onfocus: () => this.#offer() });
  #words = el("input", { type: "search", placeholder: "Find in page", maxLength: 200, "aria-label": "Find in page", oninput: () => write(this.#none, ""), onkeydown: (event) => this.#key(event) });
  #none = el("span", { className: "small quiet", role: "status" });
  #url = "";

  /** `leave` is where the focus goes once the page is led elsewhere. */
  constructor(id, socket, tell, leave) {
    Object.assign(this, { id, socket, tell, leave });
    const way = ([action, text, path]) => el("button", { type: "button", className: `icon plain ${action}`, title: text, "aria-label": text, onclick: () => this.#go(action) }, icon(path));
    this.element = el("div", { className: "address", hidden: true },
      WAYS.map(way),
      el("form", { className: "goes", onsubmit: () => this.#field.value.trim() && this.#go("goto", meant(this.#field.value)) }, this.#field, this.#list),
      el("form", { className: "finds", role: "search", onsubmit: () => this.#find(false) }, this.#words, this.#none));
  }

  update(page, isShown) {
    this.element.hidden = !isShown;
    if (!page || page.url === this.#url) return;
    this.session = page.session;
    this.#url = page.url;
    if (document.activeElement !== this.#field) this.#field.value = page.url === "about:blank" ? "" : page.url;
  }

  async #offer() {
    this.#field.select();
    await this.socket.ask("places", { sessionId: this.session }).then((found) => offer(this.#list, found), () => {}); // or nothing is offered
  }

  async #go(action, url) {
    this.element.ariaBusy = "true";
    if (url) this.leave();
    const before = this.#url;
    const led = this.socket.call(action, { pageId: this.id, url });
    await report(led.then((found) => /back|forward/.test(action) && found.url === before && found.observed), this.tell); // why it stayed
    this.element.ariaBusy = null;
  }

  #key(event) {
    if (event.key !== "Enter" || !event.shiftKey) return;
    event.preventDefault();
    this.#find(true);
  }

  async #find(back) {
    if (!this.#words.value) return;
    try {
      await this.socket.ask("find", { pageId: this.id, text: this.#words.value, back });
      write(this.#none, "");
    } catch (error) {
      write(this.#none, error.reason ?? error.message);
    }
  }
}

/** Asks where a page of one's own is to be opened, and at what address. */
export class NewPage {
  #list = el("datalist", { id: "visited-before" });
  #field = addressField("visited-before", { placeholder: "example.com" });
  #where = el("select", { onchange: () => report(this.#offer(), this.tell) });
  #whereLabel = el("label", {}, "Where", this.#where);
  button = el("button", { type: "button", className: "plain", title: "Open a page of your own", onclick: () => this.#ask() },
    icon(PLUS), el("span", { className: "word" }, "New page"));

  constructor(socket, tell) {
    Object.assign(this, { socket, tell });
  }

  #ask() {
    const done = ({ target }) => {
      target.closest("dialog").close();
      report(this.#open(this.#where.value || "default", this.#field.value.trim()), this.tell);
    };
    this.#field.value = "";
    sheet("question", "A page of your own",
      el("form", { onsubmit: done },
        el("label", {}, "Address", this.#field), this.#list, this.#whereLabel,
        el("p", { className: "quiet small" }, "It is in your hands at once. Agents are kept out until you give it back."),
        el("div", { className: "choices" }, closes("Cancel"), el("button", { className: "first" }, "Open"))));
    report(this.#offer(), this.tell);
  }

  async #offer() {
    const found = await this.socket.ask("places", { sessionId: this.#where.value || "default" });
    offer(this.#list, found);
    const chosen = this.#where.value || "default";
    this.#where.replaceChildren(...found.sessions.map((id) => el("option", { value: id }, SESSIONS[id] ?? id)));
    this.#where.value = found.sessions.includes(chosen) ? chosen : "default";
    this.#whereLabel.hidden = found.sessions.length < 2;
  }

  async #open(sessionId, address) {
    const pageId = await this.socket.ask("open", { sessionId });
    location.hash = toPage(pageId);
    if (address) await this.socket.call("goto", { pageId, url: meant(address) });
  }
}
