// Speaks with the service: one socket, which comes back by itself, and says when it does not.

import { ticket } from "./entry.js";
import { capital } from "./words.js";

const FIRST_MS = 500;
const LONGEST_MS = 8000;

/** Tells what comes of something that was asked for, and returns whether it was done. */
export async function report(asked, tell, untold = "") {
  try {
    tell(await asked);
    return true;
  } catch (error) {
    if (!untold || error.field !== untold) tell(error.message, true);
    return false;
  }
}

export class Socket {
  #socket = null;
  #wait = FIRST_MS;
  #watching = {};
  #asked = new Map();
  #number = 0;

  /** `on` has `message`, `frame`, `status` ("live", "lost") and `out`, which is final. */
  constructor(on) {
    this.on = on;
  }

  connect() {
    const { path, proof } = ticket();
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", proof }));
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#take(JSON.parse(data)) : this.#frame(data));
    socket.onclose = () => this.#lost(socket);
  }

  end() {
    this.#socket.onclose = null;
    this.#socket.close();
  }

  /** Says what is drawn now, and whether anybody can see it. It is said again after each new connection. */
  watch(tiles, page) {
    const now = { tiles, page, hidden: document.hidden };
    if (JSON.stringify(now) === JSON.stringify(this.#watching)) return;
    this.#watching = now;
    this.#send({ type: "watch", ...now });
  }

  /** Asks for something by its type in `wall/messages.py`. Returns the answer. Throws the service's refusal. */
  ask(type, more = {}) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      if (!this.#send({ type, ...more, id })) this.#settle(id, new Error("The service cannot be reached now."));
    });
  }

  /** Calls an action of the catalogue as this viewer. Returns its result. Throws the service's refusal. */
  call(action, more) {
    return this.ask("call", { call: { action, ...more } });
  }

  /** Calls what concerns agents alone, and returns as a sentence what came of it. */
  async told(action, more) {
    const { observed = "" } = await this.call(action, more);
    return observed && `${capital(observed)}.`;
  }

  input(pageId, made) {
    this.#send({ type: "input", pageId, made });
  }

  #send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #take(message) {
    if (message.type === "viewer") {
      this.#wait = FIRST_MS;
      this.#send({ type: "watch", ...this.#watching });
      this.on.status("live");
    }
    if (message.type === "refused" && message.over) {
      this.#socket.onclose = null;
      return this.on.out(message);
    }
    if (message.id) this.#settle(message.id, message.type === "refused" ? Object.assign(new Error(`${message.reason} ${message.hint}`.trim()), message) : null, message);
    this.on.message(message);
  }

  #settle(id, error, message) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked) error ? asked.reject(error) : asked.resolve(message.result);
  }

  #frame(data) {
    const length = new DataView(data).getUint16(1);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 3, length)));
    this.on.frame(head, head.hasPicture ? new Blob([new Uint8Array(data, 3 + length)], { type: "image/jpeg" }) : null);
  }

  #lost(socket) {
    if (socket !== this.#socket) return;
    for (const id of [...this.#asked.keys()]) this.#settle(id, new Error("The connection ended; look whether it happened."));
    this.on.status("lost");
    setTimeout(() => this.connect(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_MS);
  }
}
