// Makes each part of the wall in each state, from what the service would send.

import { Address } from "/wall/static/address.js";
import { Agents } from "/wall/static/agents.js";
import { Asks } from "/wall/static/asks.js";
import { DayView } from "/wall/static/day.js";
import { el } from "/wall/static/dom.js";
import { farewell, gate, waiting } from "/wall/static/gate.js";
import { card } from "/wall/static/grid.js";
import { Picture } from "/wall/static/picture.js";
import { Point } from "/wall/static/point.js";
import { question } from "/wall/static/question.js";
import { written } from "/wall/static/threads.js";
import { Tile } from "/wall/static/tile.js";
import { Timeline } from "/wall/static/timeline.js";
import { KINDS, OUTCOMES, STATES } from "/wall/static/words.js";

const NOW = Date.now() / 1000;
const COLOURS = ["blue", "orange", "green", "pink", "cyan", "purple", "yellow", "grey"];
const [WIDTH, HEIGHT] = [1280, 720];
const TARGET = { x: 820, y: 330, width: 180, height: 48 };
const done = async () => "Done.";

/** Returns the picture of a small shop. */
async function picture() {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const pen = canvas.getContext("2d");
  const box = (colour, ...place) => Object.assign(pen, { fillStyle: colour }).fillRect(...place);
  box("#ffffff", 0, 0, WIDTH, HEIGHT);
  box("#14342b", 0, 0, WIDTH, 76);
  box("#dfe7e2", 60, 130, 620, 520);
  for (const top of [140, 190, 240, 270]) box("#c9cfcb", 740, top, 460 - top / 2, 18);
  box("#1b7f5c", TARGET.x, TARGET.y, TARGET.width, TARGET.height);
  Object.assign(pen, { fillStyle: "#ffffff", font: "600 22px sans-serif" }).fillText("Add to cart", TARGET.x + 30, TARGET.y + 32);
  return canvas.convertToBlob({ type: "image/jpeg" });
}

const page = (id, more = {}) => ({ id, session: "default", group: "agents", owner: { label: "Claude · shop", agent: "", colour: "blue" }, leftBy: "", revision: 7,
  private: false, url: "https://shop.example/kettles", title: "Kettles — Shop", dialog: null, actedAt: NOW - 12, held: null, person: null, ...more });
const head = (more = {}) => ({ state: "live", width: WIDTH, height: HEIGHT, act: null, waiting: [], dialog: null, colour: "blue", ...more });
const act = (action, state, more = {}) => ({ act: { action, state, agoMs: 200, byPerson: false, ...more } });
const request = (kind, more = {}) => ({ id: `r-${kind}`, kind, pageId: "kettles", askedBy: "Claude · shop", joinedBy: [], askedAt: NOW - 70, colour: "blue", message: "The shop asks for the code that it sent to your phone.",
  choices: kind === "decision" ? ["The red one", "The blue one"] : [], ofRule: false, origin: "https://shop.example", mayAnswer: true, ...more });

const TILES = {
  "a page": [page("kettles"), head()],
  "an act": [page("acts"), head(act("click", "running", { target: TARGET }))],
  "a long act": [page("waits"), head(act("wait_for_selector", "running", { agoMs: 12_000 }))],
  "an act that failed": [page("failed"), head(act("click", "failed", { target: TARGET }))],
  "asks": [page("asks", { person: { kind: "code", by: "Claude", requestId: "r" } }), head()],
  "a dialog": [page("dialog", { dialog: { kind: "confirm", message: "Sure?" } }), head()],
  "kept, with a line": [page("kept", { held: { reason: "a code", until: NOW + 600 }, session: "work", host: "build-2" }), head({ waiting: ["Codex: goto", "Gemini: click"] })],
  "locked": [page("secret", { locked: true, private: true, url: undefined, title: undefined }), null],
  "a long title": [page("a-page-with-a-long-name-of-its-own", { title: "The complete and unabridged catalogue of kettles, pots and pans of the North", url: "https://www.catalogue-of-kettles.example/all" }), head()],
  "right to left": [page("rtl", { title: "غلايات الماء", owner: { label: "كلود", agent: "", colour: "green" } }), head()],
  "a person’s": [page("mine", { group: "people", owner: null }), head()],
  "no picture yet": [page("fresh", { actedAt: null }), null],
};

function tiles(blob) {
  const list = el("ul", { className: "tiles" });
  const shown = [...Object.values(TILES), ...Object.keys(STATES).map((state) => [page(state, { title: state }), head({ state })]), ...COLOURS.map((colour) => [page(colour, { title: colour, owner: { label: colour, agent: "", colour } }), head({ colour, ...act("fill_form", "done", { target: TARGET }) })])];
  shown.forEach(([each, frame], number) => {
    const tile = new Tile(each, number);
    list.append(tile.element);
    requestAnimationFrame(() => setTimeout(() => frame && tile.frame(frame, blob))); // once it has its size
  });
  return list;
}

const asks = () => [
  { dialog: { kind: "alert", message: "Sold out" } }, { dialog: { kind: "confirm", message: "Delete it?" } }, { dialog: { kind: "prompt", message: "Your name?", default: "Ana" } },
  { dialog: { kind: "beforeunload", message: "" } }, { chooser: "several" }, { shownList: { options: [{ text: "one" }, { text: "two", disabled: true }], chosen: 0, more: 3 } },
  { challenge: { origin: "https://archive.example", realm: "The archive", refused: true } },
].map((asked) => {
  const made = new Asks("kettles", {}, () => {}, () => {}, () => {});
  made.update(asked, page("kettles"), true, true);
  return made.element;
});

function timeline() {
  const made = new Timeline(async () => ({}));
  const row = (id, more) => ({ id, time: new Date().toISOString(), client: "Claude · shop", colour: "blue", action: "click", arguments: { selector: "role=button[name=\"Add to cart\"]" }, outcome: "ok", durationMs: 84, ...more });
  made.take({ whole: true, rows: [row(1), row(2, { action: "fill_form", arguments: { fields: [1, 2, 3, 4] } }), row(3, { urlAfter: "https://shop.example/cart", requests: [{ method: "POST", url: "https://shop.example/cart", status: 302 }] }),
    ...Object.keys(OUTCOMES).map((outcome, place) => row(10 + place, { outcome }))] });
  return el("section", { className: "panel" }, made.element);
}

const agent = (id, more = {}) => ({ id, to: id, label: "Claude · shop", colour: "blue", since: NOW - 600, pages: 2, doing: null, last: { action: "click", pageId: "kettles", at: NOW - 12, outcome: "ok", aim: "role=button[name=\"Add to cart\"]" }, halt: null, unread: 0, ...more });
const doing = (action, since, waiting = 0) => ({ action, pageId: "kettles", since: NOW - since, waiting });
const halt = (how) => ({ how, by: "ana", at: NOW - 60, until: how === "pause" ? NOW + 540 : null });

function agents(all = null) {
  const rows = [agent("idle"), agent("busy", { doing: doing("wait_for_selector", 14), label: "Codex · tickets of the whole of last year", colour: "orange" }), agent("failed", { last: { action: "fill", pageId: "cart", at: NOW - 300, outcome: "TIMEOUT" }, colour: "green", label: "Gemini", pages: 1 }),
    agent("new", { last: null, pages: 0, label: "كلود", colour: "pink" }), agent("paused", { halt: halt("pause"), doing: doing("click", 40, 2), colour: "cyan" }), agent("stopped", { halt: halt("stop"), colour: "purple" }), agent("away", { since: null, last: null, colour: "grey" })];
  const made = new Agents({ viewer: { readOnly: false }, browsers: ["private", "work"], agents: all ? rows.slice(0, 2).map((row) => ({ ...row, doing: null, halt: all })) : rows, halt: all }, {}, () => {}, { open() {}, update() {}, fresh: (id) => Number(id === "idle") });
  made.update();
  return made.element;
}

const thread = () => el("ol", { className: "lines thread", style: { "--owner": "var(--blue)" } },
  written({ by: "ana", text: "This one, not that one.", about: "e12, button 'Add to cart'", at: NOW - 90, ofPerson: true }), written({ by: "Claude · shop", text: "Understood: <b>the blue one</b>.", at: NOW - 60 }),
  written({ by: "ana", text: "And only one of them, please.", at: NOW, ofPerson: true }, true));

function pointing() {
  const found = { box: TARGET, role: "button", name: "Add to cart", ref: "e12" };
  const made = new Point("kettles", Object.assign(new Picture("kettles"), { head: head() }), { ask: async () => found }, () => {}, () => {});
  made.begin();
  made.element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  return [made.panel, el("figure", { className: "picture" }, el("div", { className: "paper" }, made.element))];
}

/** The address of a page in hand: at rest, on its way, and without what was looked for. */
function addresses() {
  return [false, true].map((isBusy) => {
    const made = new Address("kettles", {}, () => {}, () => {});
    made.update(page("kettles"), true);
    made.element.toggleAttribute("aria-busy", isBusy);
    if (!isBusy) made.element.querySelector("[role=status]").textContent = "“zebra” is not on the page.";
    return el("div", { className: "page-head" }, made.element);
  });
}

function day() {
  const asked = (kind, ended, more) => ({ kind, ended, by: "Claude · shop", colour: "blue", message: "Which of the two?", pageId: "kettles", origin: "https://shop.example", answeredBy: "ana", at: NOW - 600, ...more });
  const download = (name, state, more) => ({ name, state, by: "Codex", colour: "orange", pageId: "kettles", size: 48_000, file: null, why: null, at: NOW - 300, ...more });
  const found = {
    chats: [{ of: "a", label: "Claude · shop", colour: "blue", acts: 42, failed: 3, from: NOW - 9000, until: NOW }, { of: "b", label: "Codex", colour: "orange", acts: 1, failed: 0, from: NOW, until: NOW }],
    requests: [asked("decision", "done"), asked("login", "refused"), asked("code", "expired"), asked("other", "withdrawn"), asked("tab", "closed")],
    downloads: [download("report.csv", "finished", { file: "art-1" }), download("film.mp4", "running", { size: 2_400_000 }), download("map.pdf", "failed", { why: "it has 900,000,000 bytes, and 500 MB are the most" })],
    logins: [{ site: "shop.example", session: "default", endsAt: NOW + 600_000 }, { site: "bank.example", session: "work", endsAt: null, overAt: NOW }],
    pages: [{ id: "kettles", session: "default", by: "Claude · shop", acts: 42, until: NOW, open: true }, { id: "cart", session: "bank", by: "Codex", acts: 1, until: NOW - 900, open: false }],
  };
  return [found, { chats: [], requests: [], downloads: [], pages: [], logins: [] }].map((each) => {
    const made = new DayView({ ask: async () => each }, () => {});
    made.leave();
    made.element.firstChild.remove();
    return el("div", { className: "day" }, made.element.firstChild);
  });
}

const buttons = () => el("div", { className: "row-of" }, ["", "first", "danger", "plain"].flatMap((className) => [false, true].map((disabled) => el("button", { type: "button", className, disabled }, className || "button"))),
  el("input", { type: "search", placeholder: "Find a page", "aria-label": "Find a page" }), el("span", { className: "badge" }, "badge"), el("kbd", {}, "?"));

const PARTS = {
  "Buttons and fields": () => [buttons()],
  "Tiles": (blob) => [tiles(blob)],
  "Requests": () => [el("ul", { className: "requests" }, Object.keys(KINDS).map((kind) => card(request(kind), done)), card(request("decision", { mayAnswer: false })))],
  "Agents": () => [agents(), agents(halt("stop"))],
  "A thread": () => [thread()],
  "Point": () => pointing(),
  "Questions": () => Object.keys(KINDS).filter((kind) => kind !== "tab").map((kind) => el("div", { className: "holds" }, question(request(kind), done))),
  "What a page asks": () => asks(),
  "The address of a page in hand": () => addresses(),
  "The past day": () => day(),
  "What was done": () => [timeline()],
  "Messages": () => [el("p", { className: "toast" }, "shop is yours again."), el("p", { className: "toast wrong" }, "The service cannot be reached now.")],
  "Doors": () => [gate("This link was used already; each works once."), waiting("The wall is coming …"), farewell("Thank you.")],
};

const parts = el("main", { id: "parts" }, el("h1", {}, "The wall’s parts"));
document.head.append(el("link", { rel: "stylesheet", href: "/parts/parts.css" }));
document.getElementById("app").append(parts);
const blob = await picture();
for (const [name, make] of Object.entries(PARTS)) {
  const both = ["light", "dark"].map((scheme) => el("div", { className: scheme }, ...make(blob)));
  parts.append(el("section", {}, el("h2", {}, name), el("div", { className: "both" }, both)));
}
