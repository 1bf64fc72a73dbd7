// Speaks with the service by one WebSocket, and dials it again when it is lost.

const SLOWEST_MS = 30_000;

const hex = (bytes) => Array.from(new Uint8Array(bytes), (each) => each.toString(16).padStart(2, "0")).join("");

/** Returns what only a service that knows the key, and listens at this URL, answers to a nonce. */
async function proof({ key, url }, nonce) {
  const bytes = new TextEncoder();
  const made = await crypto.subtle.importKey("raw", bytes.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", made, bytes.encode(`${new URL(url).host} answers ${nonce}`)));
}

/** Gets a token for the code of a pairing link. Throws an Error that says why there is none. */
export function pair(url, code) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send(JSON.stringify({ type: "pair", code }));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "paired") resolve({ url, id: message.id, key: message.key, token: message.token });
      else reject(new Error([message.reason, message.hint].filter(Boolean).join(" ")));
      socket.close();
    };
    socket.onclose = socket.onerror = () => reject(new Error("Nothing answers there. Does the service run? browse-together up --detach"));
  });
}

export class Link {
  #socket = null;
  #due = 0;
  #waits = 0;
  #asked = new Map();
  #number = 0;
  status = "unpaired";
  reason = "";

  /** `hear` gets each state of the service, and `change` is called when the link comes or goes. */
  constructor(hear, change) {
    Object.assign(this, { hear, change });
  }

  /** Dials the service, unless it is dialled or connected already. */
  async open() {
    clearTimeout(this.#due);
    if (this.#socket) return;
    const { paired } = await chrome.storage.local.get("paired");
    if (this.#socket) return;
    if (!paired) {
      this.#become("unpaired");
      return;
    }
    const socket = (this.#socket = new WebSocket(paired.url));
    const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", id: paired.id, nonce }));
    socket.onmessage = ({ data }) => this.#take(socket, paired, nonce, JSON.parse(data));
    socket.onclose = () => this.#lost(socket);
  }

  /** Forgets the service or knows another, and dials anew. */
  reopen() {
    const socket = this.#socket;
    if (socket) {
      socket.close();
      this.#lost(socket);
    }
    this.#waits = 0;
    return this.open(); // which clears what #lost has set
  }

  tell(message) {
    if (this.status === "live") this.#socket.send(JSON.stringify(message));
  }

  /** Asks for something, and returns the refusal; "" if it was done. */
  ask(message) {
    if (this.status !== "live") return Promise.resolve("The service does not answer.");
    return new Promise((resolve) => {
      this.#asked.set(++this.#number, resolve);
      this.tell({ ...message, number: this.#number });
    });
  }

  async #take(socket, paired, nonce, message) {
    if (socket !== this.#socket) return;
    if (message.type === "proof") {
      if (message.proof === (await proof(paired, nonce))) socket.send(JSON.stringify({ type: "token", token: paired.token }));
      else this.#refuse(socket, "Another program answers at the service's address.");
    } else if (message.type === "state") {
      this.#waits = 0;
      this.hear(message);
      this.#become("live");
    } else if (message.type === "refused" && message.number === undefined) {
      this.#refuse(socket, [message.reason, message.hint].filter(Boolean).join(" "));
    } else if (message.type === "done" || message.type === "refused") {
      this.#asked.get(message.number)?.([message.reason, message.hint].filter(Boolean).join(" "));
      this.#asked.delete(message.number);
    }
  }

  #refuse(socket, reason) {
    this.#waits = SLOWEST_MS;
    this.#become("refused", reason);
    socket.close();
  }

  #lost(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    for (const resolve of this.#asked.values()) resolve("The connection was lost; look what became of it.");
    this.#asked.clear();
    if (this.status !== "refused") this.#become("lost");
    this.#due = setTimeout(() => this.open(), this.#waits);
    this.#waits = Math.min(SLOWEST_MS, this.#waits * 2 || 1_000);
  }

  #become(status, reason = "") {
    Object.assign(this, { status, reason });
    this.change();
  }
}
