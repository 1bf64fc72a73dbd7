// Connects the tab strip and the button with the service.

import { Link, pair } from "./link.js";
import { Strip } from "./strip.js";

let state = null;
let refusal = "";
const popups = new Set();

const link = new Link(hear, change);
const strip = new Strip((targets) => link.tell({ type: "here", targets }), move);

function hear(message) {
  if (!state) strip.forget(); // a service that has just come knows no targets
  state = message;
  strip.look();
  strip.show(state);
}

function change() {
  if (link.status !== "live") state = null;
  const count = state?.requests.length ?? 0, wrong = refusal || link.status === "refused";
  chrome.action.setBadgeText({ text: wrong ? "!" : count ? String(count) : "" });
  chrome.action.setBadgeBackgroundColor({ color: "#8a4b08" });
  chrome.action.setBadgeTextColor({ color: "#ffffff" });
  for (const popup of popups) show(popup);
}

async function move(target, to, access) {
  refusal = await link.ask({ type: "move", target, to, access });
  change();
  return refusal;
}

async function show(popup) {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const target = tab && strip.targetOf(tab.id);
  popup.postMessage({ status: link.status, reason: link.reason, refusal, state, target, page: state?.tabs[target] ?? null });
}

chrome.runtime.onConnect.addListener((popup) => {
  popups.add(popup);
  popup.onDisconnect.addListener(() => {
    popups.delete(popup);
    refusal = ""; // it was read
    change();
  });
  popup.onMessage.addListener(async (asked) => {
    if (asked.type === "move") return move(asked.target, asked.to, asked.access);
    refusal = await link.ask(asked);
    change();
  });
  link.open();
  strip.look().then(() => show(popup));
});

chrome.runtime.onMessage.addListener(({ url, code }, sender, reply) => {
  pair(url, code).then(async (paired) => {
    await chrome.storage.local.set({ paired });
    await link.reopen();
    reply({});
  }).catch((error) => reply({ problem: error.message }));
  return true; // the reply comes later
});

chrome.alarms.create("dial", { periodInMinutes: 0.5 }); // wakes this worker, which sleeps while there is no connection
chrome.alarms.onAlarm.addListener(() => link.open());
chrome.runtime.onStartup.addListener(() => link.open());
link.open();
