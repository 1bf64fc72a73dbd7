// Is the person's hand on a page that they have taken: mouse, finger, wheel, keys, paste, and what an input method writes.

import { el } from "./dom.js";
import { takeDrops } from "./files.js";

const FLUSH_MS = 30;
const TAP_PX = 9;
const MOST_SIGNS = 100_000;
const TWICE_MS = 450;
const NAMED = /^(Enter|Tab|Backspace|Delete|Escape|Insert|Home|End|Page(Up|Down)|Arrow(Up|Down|Left|Right)|F([1-9]|1[0-2]))$/;
const BUTTONS = ["left", "middle", "right"];
const IS_PHONE = matchMedia("(pointer: coarse) and (max-width: 700px)");
const PART = 0.6; // of the screen, above a phone's keyboard
const KEPT = " "; // so that a phone's keyboard has something to delete, and tells so

export class Hand {
  #made = [];
  #due = 0;
  #takesKeys = false;
  #touch = null;
  #last = { at: 0, x: 0, y: 0, count: 0 };

  /** `picture` is drawn under it, `send` takes what was made, `leave` is where the focus goes by Shift+Esc, and `give` takes
   * files that were dropped, and where. */
  constructor(picture, send, leave, tell, give) {
    Object.assign(this, { picture, send, leave, tell });
    const onPage = (does) => (event) => picture.head?.width && does(event); // which is nowhere before its first picture
    this.element = el("textarea", {
      className: "hand", hidden: true, spellcheck: false, autocapitalize: "off", autocomplete: "off", enterKeyHint: "next",
      "aria-label": "The page itself: what you press and type goes there. Shift and Escape lead back to the buttons.",
      onpointerdown: onPage((event) => this.#down(event)), onpointermove: onPage((event) => this.#move(event)),
      onpointerup: onPage((event) => this.#up(event)), onpointercancel: () => { this.#touch = null; },
      onkeydown: (event) => this.#key(event), onbeforeinput: (event) => this.#input(event),
      oncompositionend: (event) => this.#composed(event), onpaste: (event) => this.#paste(event),
      oncontextmenu: (event) => event.preventDefault(),
    });
    takeDrops(this.element, (event) => this.picture.at(event), give, tell);
    this.element.addEventListener("wheel", onPage((event) => this.#wheel(event)), { passive: false });
  }

  enable(may) {
    if (this.element.hidden === !may) return;
    this.element.hidden = !may;
    this.element.value = KEPT;
    this.#made = [];
    this.#focus();
    if (may && IS_PHONE.matches) this.make({ do: "fit", x: innerWidth, y: Math.round(innerHeight * PART) });
  }

  /** Has the keys go to the page, once it is in hand. A phone's keyboard comes with the first tap, where it is wanted. */
  takeKeys() {
    this.#takesKeys = !IS_PHONE.matches;
    this.#focus();
  }

  #focus() {
    if (!this.#takesKeys || this.element.hidden) return;
    this.#takesKeys = false;
    this.element.focus({ preventScroll: true });
  }

  /** Notes a stroke. Of several moves in a row the last counts, and turns of the wheel add up. */
  make(stroke) {
    const last = this.#made.at(-1);
    if (last?.do === "move" && stroke.do === "move") this.#made.pop();
    if (last?.do === "wheel" && stroke.do === "wheel") {
      this.#made.pop();
      stroke.dx += last.dx;
      stroke.dy += last.dy;
    }
    if (IS_PHONE.matches) stroke.ofPhone = true;
    this.#made.push(stroke);
    this.#due ||= setTimeout(() => {
      this.#due = 0;
      while (this.#made.length) this.send(this.#made.splice(0, this.#made.some(({ text }) => text?.length > 1) ? 3 : 100)); // 64 KB at most
    }, FLUSH_MS);
  }

  #press(event, how) {
    const { x, y } = this.picture.at(event);
    const isAgain = event.timeStamp - this.#last.at < TWICE_MS && Math.hypot(event.clientX - this.#last.x, event.clientY - this.#last.y) < TAP_PX;
    if (how === "down") this.#last = { at: event.timeStamp, x: event.clientX, y: event.clientY, count: isAgain ? Math.min(this.#last.count + 1, 3) : 1 };
    this.make({ do: how, x, y, button: BUTTONS[event.button] ?? "left", clicks: this.#last.count || 1 });
  }

  #down(event) {
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    if (event.pointerType === "touch") {
      this.#touch = { id: event.pointerId, x: event.clientX, y: event.clientY, began: this.picture.at(event), moved: false };
      return;
    }
    this.element.setPointerCapture(event.pointerId);
    this.#press(event, "down");
  }

  #move(event) {
    const touch = this.#touch;
    if (event.pointerType !== "touch") return this.make({ do: "move", ...this.picture.at(event) });
    if (touch?.id !== event.pointerId) return;
    touch.moved ||= Math.hypot(event.clientX - touch.x, event.clientY - touch.y) > TAP_PX;
    if (!touch.moved) return;
    const scale = this.picture.head.width / this.element.clientWidth;
    this.make({ do: "wheel", ...touch.began, dx: (touch.x - event.clientX) * scale, dy: (touch.y - event.clientY) * scale });
    Object.assign(touch, { x: event.clientX, y: event.clientY });
  }

  #up(event) {
    if (event.pointerType !== "touch") return this.#press(event, "up");
    if (this.#touch?.id === event.pointerId && !this.#touch.moved) {
      this.make({ do: "move", ...this.picture.at(event) });
      this.#press(event, "down");
      this.#press(event, "up");
    }
    this.#touch = null;
  }

  #wheel(event) {
    if (event.ctrlKey) return; // to zoom the wall itself
    event.preventDefault();
    const unit = [1, 40, 800][event.deltaMode];
    this.make({ do: "wheel", ...this.picture.at(event), dx: event.deltaX * unit, dy: event.deltaY * unit });
  }

  #key(event) {
    if (event.key === "Escape" && event.shiftKey) {
      event.preventDefault();
      return this.leave();
    }
    if (event.isComposing || event.key === "Process") return;
    event.stopPropagation();
    const command = event.ctrlKey || event.metaKey;
    const isAltGraph = event.getModifierState("AltGraph");
    const pastes = command && event.key.toLowerCase() === "v";
    if (pastes || !(NAMED.test(event.key) || (command && !isAltGraph && event.key.length === 1))) return;
    event.preventDefault();
    const held = [command && "ControlOrMeta", event.altKey && "Alt", event.shiftKey && "Shift"].filter(Boolean);
    this.make({ do: "key", key: [...held, event.key].join("+") });
  }

  #input(event) {
    if (event.isComposing || event.inputType === "insertCompositionText") return;
    event.preventDefault();
    if (event.inputType.startsWith("insertLine") || event.inputType === "insertParagraph") this.make({ do: "key", key: "Enter" });
    else if (event.inputType === "deleteContentBackward") this.make({ do: "key", key: "Backspace" });
    else if (event.data) this.#write(event.data);
  }

  #composed(event) {
    if (event.data) this.#write(event.data);
    this.element.value = KEPT;
  }

  #paste(event) {
    event.preventDefault();
    this.#write(event.clipboardData.getData("text/plain"));
  }

  #write(text) {
    const signs = [...text]; // none of which may be cut in two
    if (signs.length > MOST_SIGNS) return this.tell(`At most ${MOST_SIGNS.toLocaleString("en")} characters are pasted at once.`, true);
    for (let at = 0; at < signs.length; at += 2500) this.make({ do: "text", text: signs.slice(at, at + 2500).join("") });
  }
}
