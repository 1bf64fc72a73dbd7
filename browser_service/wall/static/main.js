// Begins: gets in by the link, if there is one, and shows the door, the wall or one page.

import { NewPage } from "./address.js";
import { DayView } from "./day.js";
import { el, icon, say, write } from "./dom.js";
import { arrival, enter, forgetRequest, leave, onEntry, renew, ticket } from "./entry.js";
import { farewell, gate, waiting } from "./gate.js";
import { Grid } from "./grid.js";
import { PageView } from "./page.js";
import { openKeys, openSettings, settings } from "./settings.js";
import { Socket } from "./socket.js";
import { Threads } from "./threads.js";
import { toPage } from "./words.js";

const app = document.getElementById("app");
const model = { viewer: { name: "", readOnly: true }, pages: new Map(), requests: [], agents: [], threads: new Map(), halt: null, browsers: [] };
let wanted = ""; // what is looked for
const visited = new Set();
const SEARCH = "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17";
const CLOCK = "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l3 2";
const SLIDERS = "M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4";
const KEYS = [
  [["/"], "Find a page"], [["Tab"], "Go to the next thing"], [["←", "→", "↑", "↓"], "From a page to the one beside it"], [["Enter"], "Open the page"], [["Esc"], "Back to the wall"],
  [[","], "Settings"], [["?"], "These keys"], [["Shift", "Esc"], "With a page in your hands: back to its buttons"],
];
const RENEWED_EVERY_MS = 3_600_000;
const OVER = "It is over: nobody is asked any more.";
let socket, grid, view, bar, threads;
let refusal = "";
let isLed = false; // to a page that takes the keys of the one before

async function begin() {
  const { code } = arrival();
  if (code) {
    app.replaceChildren(waiting("One moment …"));
    await enter(code).catch((error) => { refusal = error.message; }); // which is of no concern to who is in already, by the first click on the same link
  }
  if (!ticket().proof) return app.replaceChildren(gate(refusal));
  app.replaceChildren(waiting("The wall is coming …"));
  socket = new Socket({ message, frame, status, out });
  threads = new Threads(model, socket, tell);
  grid = new Grid(model, watch, socket, tell, threads);
  socket.connect();
}

function out({ code, reason }) {
  const isOver = ticket().isOfRequest && code === "INVALID_REQUEST"; // there is none of that name any more
  putAway();
  forgetRequest();
  say("");
  app.replaceChildren(isOver ? farewell(OVER) : gate(refusal || reason));
}

function status(name) {
  document.documentElement.dataset.link = name;
  if (bar) write(bar.status, name === "live" ? "Live" : "Connection lost, retrying …");
  if (bar && name !== "live") say("The connection to the service is lost. It is tried again.");
}

function message(what) {
  if (what.type === "viewer") greet(what);
  else if (what.type === "state" || what.type === "patch") apply(what);
  else if (what.type === "timeline") view?.message?.(what);
  if (what.type === "refused" && !what.id) tell(`${what.reason} ${what.hint}`, true);
}

function greet(viewer) {
  const { version = viewer.version } = model.viewer;
  if (version !== viewer.version) return location.reload(); // the service is another by now, and so is its page
  model.viewer = viewer;
  stay();
}

/** Stays signed in while the wall is in use, also over restarts of the service. A connection that is lost is told elsewhere. */
const stay = () => model.viewer.request || renew().catch(() => {});
setInterval(() => bar && stay(), RENEWED_EVERY_MS);

function apply({ type, pages = {}, requests, agents, threads: lines = {}, halt = model.halt, browsers = model.browsers }) {
  const known = new Set(model.pages.keys());
  if (type === "state") for (const kept of [model.pages, model.threads]) kept.clear();
  for (const [id, thread] of Object.entries(lines)) thread ? model.threads.set(id, thread) : model.threads.delete(id);
  Object.assign(model, { halt, browsers });
  for (const [id, page] of Object.entries(pages)) page ? model.pages.set(id, page) : model.pages.delete(id);
  model.requests = requests ?? model.requests;
  model.agents = agents ?? model.agents;
  if (model.viewer.request && !stays(pages)) return;
  if (!bar) open();
  draw();
  const next = !model.viewer.request && type === "patch" ? view?.leadsTo?.(known) : null;
  if (next) lead(next);
}

/** Shows a guest the pages of their request, the latest in front. Returns false once the request is over. */
function stays(changed) {
  app.classList.add("guest");
  if (!model.pages.size) {
    takeLeave();
    return false;
  }
  const opened = Object.keys(changed).filter((id) => changed[id] && !visited.has(id));
  for (const id of opened) visited.add(id);
  if (opened.length || !model.pages.has(place().id)) history.replaceState(null, "", toPage(opened.at(-1) ?? [...model.pages.keys()].at(-1)));
  if (bar && view?.id !== place().id) route();
  return true;
}

/** Returns what of the wall the address names: a kind, and of which id. */
function place() {
  const [, kind, id = ""] = location.hash.split("/");
  return { kind, id: decodeURIComponent(id) };
}

async function takeLeave() {
  forgetRequest();
  const said = await view?.answered?.catch(() => "");
  socket.end();
  putAway();
  app.replaceChildren(farewell(said || OVER));
  say(said || OVER);
}

function draw() {
  bar.update();
  grid.update(wanted);
  view?.update?.();
  document.title = model.requests.length ? `(${model.requests.length}) browse-together` : "browse-together";
  watch();
}

function lead(id) {
  tell(model.pages.get(view.id) ? `${view.id} opened this window. Once it is closed, you are led back.` : `${view.id} is closed. This is the page that opened it.`);
  isLed = true;
  location.replace(toPage(id));
}

function frame(head, blob) {
  grid.frame(head, blob);
  if (view?.id === head.pageId) view.frame(head, blob);
}

let due = 0;
function watch() {
  clearTimeout(due);
  due = setTimeout(() => {
    if (document.hidden) return socket.watch({}, null);
    socket.watch(view ? {} : grid.drawn(), view && !model.pages.get(view.id)?.locked ? view.id : null);
  }, 80);
}

// --- the frame of it all ---------------------------------------------------------------------------------------------

function open() {
  bar = makeBar();
  app.replaceChildren(bar.element, bar.place, bar.toast);
  status("live");
  route();
}

function makeBar() {
  const state = el("span");
  const search = el("input", { type: "search", placeholder: "Find a page", "aria-label": "Find a page", oninput: () => { wanted = search.value; draw(); } });
  const name = el("span", { className: "name cut" });
  const find = el("button", { type: "button", className: "icon plain find", "aria-label": "Find", "aria-expanded": "false", onclick: () => bar.look(find.ariaExpanded === "false") }, icon(SEARCH));
  const chosen = el("button", { type: "button", className: "icon plain", "aria-label": "Settings", title: "Settings (,)", onclick: () => openSettings(tell) }, icon(SLIDERS));
  const past = el("a", { className: "button plain", href: "#/day", title: "What happened within the past day" }, icon(CLOCK), el("span", { className: "word" }, "Past day"));
  const ways = el("nav", { className: "ways-on", "aria-label": "More" }, new NewPage(socket, tell).button, past);
  const goes = el("button", { type: "button", className: "plain", onclick: () => leave().catch(() => {}).then(() => location.reload()) }, "Sign out");
  const element = el("header", { className: "bar" },
    el("a", { className: "brand", href: "#/" }, el("img", { src: "/wall/static/mark.svg", alt: "" }), el("span", {}, "browse-together")),
    el("p", { className: "link", role: "status" }, state),
    el("div", { className: "filters", role: "search" }, search),
    el("div", { className: "me" }, ways, name, find, chosen, goes));
  return {
    status: state,
    element,
    toast: el("p", { className: "toast", role: "alert", hidden: true }),
    place: el("div", { className: "place" }),
    /** On a phone, shows what finds a page, or hides it. */
    look(isOpen) {
      find.ariaExpanded = String(isOpen);
      if (isOpen) search.focus();
    },
    update() {
      ways.hidden = model.viewer.readOnly || Boolean(model.viewer.request);
      write(name, model.viewer.readOnly ? "Looking on" : model.viewer.name);
    },
  };
}

let scrolled = 0; // how far the wall was, while a page is shown
function route() {
  const { kind, id } = place();
  if (kind === "request") return toRequest(id);
  const from = view?.id;
  if (!view) scrolled = scrollY;
  putAway();
  view = kind === "page" && id ? new PageView(id, model, socket, tell, threads) : kind === "day" ? new DayView(socket, tell) : null;
  if (isLed) view.hand.takeKeys();
  isLed = false;
  app.classList.toggle("single", Boolean(view));
  bar.place.replaceChildren(view ? view.element : grid.element);
  if (!view) grid.update(wanted);
  ((!view && grid.link(from)) || bar.place.firstElementChild).focus({ preventScroll: true });
  scrollTo(0, view ? 0 : scrolled);
  grid.yours.show(!view);
  watch();
}

/** Leaves what is shown, and what is asked about it. */
function putAway() {
  view?.leave();
  document.querySelector("dialog[open]:not(.thread)")?.close();
}

/** Goes where a request is answered. */
function toRequest(id) {
  const asked = model.requests.find((each) => each.id === id);
  location.replace(asked ? toPage(asked.pageId) : "#/");
  if (!asked) tell(OVER);
}

let fading = 0;
function tell(text, isWrong = false) {
  if (!text) return;
  clearTimeout(fading);
  bar.toast.classList.toggle("wrong", isWrong);
  bar.toast.hidden = false;
  write(bar.toast, text);
  fading = setTimeout(() => { bar.toast.hidden = true; }, isWrong ? 9000 : 4000);
}

addEventListener("hashchange", () => {
  if (/^#[^/]/.test(location.hash)) location.reload(); // the link of another viewer
  else if (bar) route();
});
onEntry(() => app.querySelector(".gate .command") && location.reload());
addEventListener("submit", (event) => event.preventDefault()); // of the forms here none is sent as such
addEventListener("resize", () => bar && watch());
addEventListener("visibilitychange", () => bar && watch());
addEventListener("keydown", (event) => {
  if (!bar || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  if (event.key === "Escape" && view) location.hash = "#/";
  else if (event.key.startsWith("Arrow") && event.target.matches(".title")) grid.step(event.key);
  else if (settings.keys && event.key === "?") openKeys(KEYS);
  else if (settings.keys && event.key === ",") openSettings(tell);
  else if (settings.keys && event.key === "/" && !view) bar.look(true);
  else return;
  event.preventDefault();
});

begin();
