// Speaks with the service: one socket, which comes back by itself, and says when it does not.

import { ticket } from "./entry.js";

const FIRST_MS = 500;
const LONGEST_MS = 8000;

export class Socket {
  #socket = null;
  #wait = FIRST_MS;
  #watching = { tiles: {}, page: null };
  #asked = new Map();
  #number = 0;

  /** `on` has `message`, `frame`, `status` ("connecting", "live", "lost") and `out`, which is final. */
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

  /** Says what is drawn now. It is said again after each new connection. */
  watch(tiles, page) {
    const text = JSON.stringify({ tiles, page });
    if (text === JSON.stringify(this.#watching)) return;
    this.#watching = { tiles, page };
    this.#send({ type: "watch", tiles, page });
  }

  /** Asks for an act, and returns what was observed. Throws what the service says against it. */
  act(what, pageId, more = {}) {
    return this.ask("act", { do: what, pageId, ...more });
  }

  /** Answers what an agent asks for. */
  answer(requestId, state, answer = "") {
    return this.ask("answer", { requestId, state, answer });
  }

  /** Asks for something by its type, and returns its answer, or the answer's text. Throws what the service says against it. */
  ask(type, more = {}) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      if (!this.#send({ type, ...more, id })) this.#settle(id, new Error("The service cannot be reached now."));
    });
  }

  input(pageId, made) {
    this.#send({ type: "input", pageId, made });
  }

  /** Answers a dialog of a page; null leaves what a prompt holds already. */
  dialog(pageId, accept, text) {
    return this.ask("dialog", { pageId, accept, text });
  }

  /** Gives a page the files that it asks for; with none, it asks no more. */
  files(pageId, files) {
    return this.ask("files", { pageId, files });
  }

  /** Gives a page's site the name and the password that it asks for. */
  login(pageId, username, password) {
    return this.ask("login", { pageId, username, password });
  }

  /** Saves a stretch of a page's timeline as a flow, and returns what it became. */
  save(pageId, name, since, until) {
    return this.ask("save", { pageId, name, since, until });
  }

  /** Asks for the tabs of the person's own browser, and returns them with how it stands with that. */
  tabs() {
    return this.ask("tabs");
  }

  /** Asks the person's own browser once more whether we may attach to it. */
  attach() {
    return this.ask("attach");
  }

  /** Shares a tab: its `access` is to read or to act; with a request, it is for the agent that asked. Throws an error about the
   * field `linked` if scripts of another tab can reach it. */
  share(tabId, how) {
    return this.ask("share", { tabId, ...how });
  }

  unshare(tabId) {
    return this.ask("unshare", { tabId });
  }

  /** Writes a line to an agent, or to all; with a page, about the element that was picked there last. Returns who has it. */
  tellAgent(to, text, pageId = null) {
    return this.ask("tell", { to, text, pageId, picked: pageId !== null });
  }

  /** Pauses or stops an agent, or lets it go on; without a name, all. */
  halt(to, how) {
    return this.ask("halt", { to, how });
  }

  /** Returns the element at a point of a page; one that is picked gets a ref for the page's agent. */
  point(pageId, x, y, picks) {
    return this.ask("point", { pageId, x, y, picks });
  }

  list(what, pageId, ids = []) {
    this.#send({ type: "list", what, pageId, ids });
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
    if (asked) error ? asked.reject(error) : asked.resolve(message.text ?? message);
  }

  #frame(data) {
    const bytes = new DataView(data);
    const length = bytes.getUint16(1);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 3, length)));
    this.on.frame(head, head.hasPicture ? new Blob([new Uint8Array(data, 3 + length)], { type: "image/jpeg" }) : null);
  }

  #lost(socket) {
    if (socket !== this.#socket) return;
    for (const id of [...this.#asked.keys()]) this.#settle(id, new Error("The connection ended; look whether it happened."));
    this.on.status("lost");
    setTimeout(() => {
      this.on.status("connecting");
      this.connect();
    }, this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_MS);
  }
}
