// Sends a person's files to the service, and takes those that are dropped onto a page in hand. Opens files and replays in
// windows of their own, or saves a copy of a file.

import { el } from "./dom.js";
import { send } from "./entry.js";
import { report } from "./socket.js";

export const MOST_MB = 50;
const MOST_FILES = 20;

/** Sends files one by one, and returns their ids and names. Throws the service's refusal. */
export async function sent(files, onEach) {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > MOST_MB * 1e6 || files.length > MOST_FILES) throw new Error(`At most ${MOST_FILES} files, and ${MOST_MB} MB together: these are ${files.length}, with ${Math.ceil(size / 1e6)} MB.`);
  const given = [];
  for (const file of files) {
    onEach(`${file.name} is on its way …`);
    given.push({ artifactId: (await send(file)).artifactId, name: file.name });
  }
  return given;
}

const hasFiles = ({ dataTransfer }) => dataTransfer.types.includes("Files");

/** Takes files that are dropped onto an element. `give` gets them and the place, and returns a text for the person. */
export function takeDrops(element, at, give, tell) {
  const mark = (isOver) => element.classList.toggle("takes", isOver);
  element.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    mark(true);
  });
  element.addEventListener("dragleave", () => mark(false));
  element.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(false);
    const [files, where] = [[...event.dataTransfer.files], at(event)];
    report(sent(files, tell).then((given) => give(given, where)), tell);
  });
}

// A file that misses the page would replace the wall.
addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
});
addEventListener("drop", (event) => hasFiles(event) && event.preventDefault());

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

export const saveCopy = (socket, of, tell) => report(socket.ask("show", { what: "copy", of }).then((href) => el("a", { href, download: "" }).click()), tell);
