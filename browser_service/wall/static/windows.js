// Opens files and replays in windows of their own, or saves a copy of a file.

import { el } from "./dom.js";

export async function openWindow(socket, what, of, tell) {
  const opened = open("", "_blank"); // before anything is awaited, else browsers refuse it
  try {
    const address = await socket.ask("show", { what, of });
    if (!opened) return location.assign(address);
    opened.opener = null;
    opened.location.replace(address);
  } catch (error) {
    opened?.close();
    tell(error.message, true);
  }
}

export async function saveCopy(socket, of, tell) {
  try {
    el("a", { href: await socket.ask("show", { what: "copy", of }), download: "" }).click();
  } catch (error) {
    tell(error.message, true);
  }
}
