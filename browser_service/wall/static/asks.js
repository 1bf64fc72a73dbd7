// Shows what a page asks the person for: an answer to a dialog, files, a choice, or a login.

import { differs, el, say, write } from "./dom.js";
import { MOST_MB, sent } from "./files.js";
import { report } from "./socket.js";
import { host, owner } from "./words.js";

const BUTTONS = {
  alert: [["OK", true]],
  confirm: [["OK", true], ["Cancel", false]],
  prompt: [["OK", true], ["Cancel", false]],
  beforeunload: [["Leave", true], ["Stay", false]],
};

export class Asks {
  element = el("section", { className: "asking", role: "group", "aria-label": "The page asks", hidden: true, onkeydown: (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.#cancel?.();
  } });
  #cancel = null;
  #hadFocus = false;

  /** `leave` is where the focus goes afterwards, `choose` takes the place of an option, or null to leave the list as it is. */
  constructor(id, socket, tell, leave, choose) {
    Object.assign(this, { id, socket, tell, leave, choose });
  }

  update({ dialog, chooser, shownList: list, challenge }, page, mayAct, isInHand) {
    const wanted = dialog ?? (isInHand ? chooser ?? list ?? challenge : null) ?? null;
    if (!differs(this.element, wanted, mayAct)) return;
    const hadFocus = this.#hadFocus || this.element.contains(document.activeElement) || document.activeElement?.classList.contains("hand");
    this.#cancel = null;
    this.#hadFocus = false;
    this.element.hidden = !wanted;
    this.element.replaceChildren(...(!wanted ? [] : dialog ? this.#dialog(dialog, page, mayAct, isInHand) : chooser ? this.#chooser(chooser === "several") : list ? this.#list(list) : this.#login(challenge)));
    if (!wanted) return hadFocus && this.leave();
    say(this.element.textContent);
    if (hadFocus) this.element.querySelector("input[type=text], select, button")?.focus();
  }

  #dialog({ kind, message, default: given }, page, mayAct, isInHand) {
    const field = kind === "prompt" && el("input", { type: "text", value: given, maxLength: 2000, "aria-label": "Your answer", onkeydown: (event) => event.key === "Enter" && answer(true) });
    const answer = (accept) => this.#do(async () => {
      await this.socket.call("handle_dialog", { pageId: this.id, accept, promptText: accept && field && field.value !== given ? field.value : undefined });
      return "The page has your answer.";
    });
    const buttons = (BUTTONS[kind] ?? BUTTONS.confirm).map(([text, accept], place) => el("button", { type: "button", className: place ? "" : "first", disabled: !mayAct, onclick: () => answer(accept) }, text));
    if (mayAct) this.#cancel = () => answer(kind === "alert");
    const leaves = kind === "beforeunload";
    return [
      el("p", { className: "quiet small cut" }, leaves ? host(page.url) : `${host(page.url)} says`),
      el("p", { className: "message" }, leaves ? "Leave this page? What is not saved on it may be lost." : message || "(nothing)"),
      field,
      el("div", { className: "choices" }, buttons,
        !isInHand && el("span", { className: "quiet small" }, mayAct && page.owner ? `${owner(page)} can answer it too.` : "Its agent, or a person, answers it.")),
    ].filter(Boolean);
  }

  #chooser(several) {
    const input = el("input", { type: "file", multiple: several, hidden: true, onchange: () => input.files.length && send() });
    const send = () => this.#do(async () => this.#ask("files", { files: await sent([...input.files], (text) => write(this.element.querySelector(".message"), text)) }));
    this.#cancel = () => this.#do(() => this.#ask("files", { files: [] }));
    return [
      el("p", { className: "message" }, several ? "The page asks for files" : "The page asks for a file"),
      el("p", { className: "quiet small" }, `It gets what you choose on this machine, ${MOST_MB} MB at most.`),
      input,
      el("div", { className: "choices" },
        el("button", { type: "button", className: "first", onclick: () => input.click() }, several ? "Choose files …" : "Choose a file …"),
        el("button", { type: "button", onclick: () => this.#cancel() }, "Cancel")),
    ];
  }

  /** Shows the options of a list, which no picture of the page has. */
  #list({ options, chosen, more = 0 }) {
    const choose = (index) => {
      for (const each of this.element.querySelectorAll("button, select")) each.disabled = true;
      this.#hadFocus = true;
      this.choose(index);
    };
    const list = el("select", { size: Math.min(Math.max(options.length, 2), 8), "aria-label": "The list's options", ondblclick: () => choose(list.selectedIndex),
      onkeydown: (event) => event.key === "Enter" && list.selectedIndex >= 0 && choose(list.selectedIndex) },
    options.map(({ text, disabled }, place) => el("option", { disabled, selected: place === chosen }, text || " ")));
    this.#cancel = () => choose(null);
    return [
      el("p", { className: "message" }, "Choose one"),
      list,
      more > 0 && el("p", { className: "quiet small" }, `${more} more are not listed: cancel, and type how one begins.`),
      el("div", { className: "choices" },
        el("button", { type: "button", className: "first", onclick: () => list.selectedIndex >= 0 && choose(list.selectedIndex) }, "Choose"),
        el("button", { type: "button", onclick: () => choose(null) }, "Cancel")),
    ].filter(Boolean);
  }

  /** Asks for a login by HTTP, which the page itself has no form for. */
  #login({ origin, realm, refused }) {
    const username = el("input", { type: "text", maxLength: 4096, autocomplete: "off", autocapitalize: "off", spellcheck: false });
    const password = el("input", { type: "password", maxLength: 4096, autocomplete: "off" });
    const given = () => this.#do(() => this.#ask("login", { username: username.value, password: password.value }));
    return [
      el("p", { className: "message" }, `${origin} asks you to sign in`),
      refused && el("p", { className: "refused" }, "It refused that name and password."),
      realm && el("p", { className: "quiet small" }, `It calls itself “${realm}”.`),
      el("form", { onsubmit: given },
        el("label", {}, "Name", username),
        el("label", {}, "Password", password),
        el("div", { className: "choices" }, el("button", { type: "submit", className: "first" }, "Sign in")),
        el("p", { className: "quiet small" }, "It goes to that site alone, and is kept for the session. Agents do not see it.")),
    ].filter(Boolean);
  }

  async #do(ask) {
    this.#hadFocus = this.element.contains(document.activeElement); // which leaves what is disabled
    for (const each of this.element.querySelectorAll("button, input")) each.disabled = true;
    if (!await report(ask(), this.tell)) differs(this.element); // it is shown anew, if the page still asks
  }

  #ask(type, more) {
    return this.socket.ask(type, { pageId: this.id, ...more });
  }
}
