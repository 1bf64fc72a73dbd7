// Lets the site be searched when it is opened as a file: browsers start no worker of one, so its script runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #ready;
    #within;

    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      this.#within = frame.contentWindow;
      this.#within.postMessage = (data) => setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      this.#ready = new Promise((onload) => frame.contentDocument.body.append(Object.assign(frame.contentDocument.createElement("script"), { src: url, onload })));
    }

    postMessage(data) {
      this.#ready.then(() => this.#within.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
