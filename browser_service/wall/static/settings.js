// What a person chooses for the wall in this browser: how it looks, and how it calls when an agent asks for them.

import { closes, el, sheet } from "./dom.js";
import { KINDS } from "./words.js";

const KEY = "browse-together.settings";
const USUAL = { theme: "", density: "", sound: false, notify: false, keys: true };
const CHOICES = {
  theme: ["Colours", { "": "As the system", light: "Light", dark: "Dark" }],
  density: ["Density", { "": "Roomy", compact: "Compact" }],
};
const SWITCHES = {
  sound: ["Sound", "when an agent asks for you"],
  notify: ["Notification", "when an agent asks for you, while this page is open and not in front"],
  keys: ["Single keys", "such as / and ?: the key ? lists them"],
};
const TONES_HZ = [660, 880];
const TONE_S = 0.14;

function read() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(KEY)) };
  } catch {
    return { ...USUAL };
  }
}

export const settings = read();
/** Another window of the wall may have chosen since. */
const notifies = () => Object.assign(settings, read()).notify && globalThis.Notification?.permission === "granted";

const apply = () => Object.assign(document.documentElement.dataset, { theme: settings.theme, density: settings.density });

function choose(name, value) {
  Object.assign(settings, read(), { [name]: value });
  localStorage.setItem(KEY, JSON.stringify(settings));
  apply();
}

apply();

/** Opens the settings. `tell` says what stands against one. */
export function openSettings(tell) {
  const choices = Object.entries(CHOICES).map(([name, [text, values]]) => el("label", {}, text,
    el("select", { onchange: ({ target }) => choose(name, target.value) },
      Object.entries(values).map(([value, words]) => el("option", { value, selected: settings[name] === value }, words)))));
  const switches = Object.entries(SWITCHES).map(([name, [text, when]]) => el("label", {}, el("span", {}, text, el("span", { className: "quiet small" }, when)),
    el("input", { type: "checkbox", checked: name === "notify" ? notifies() : settings[name], onchange: async ({ target }) => {
      if (name === "notify" && target.checked && (await permission()) !== "granted") {
        target.checked = false;
        tell("Your browser shows no notifications of the wall: allow them in its settings.", true);
      }
      if (name === "sound" && target.checked) ring();
      choose(name, target.checked);
    } })));
  sheet("sheet", "Settings", ...choices, ...switches, done());
}

/** Opens a list of keys: pairs of the keys and what they do. */
export function openKeys(keys) {
  sheet("sheet", "Keys", el("dl", {}, keys.flatMap(([names, does]) => [el("dt", {}, names.map((name) => el("kbd", {}, name))), el("dd", {}, does)])), done());
}

const done = () => el("div", { className: "choices" }, closes("Done", "first"));

// Browsers of Android let pages show none by themselves.
const permission = async () => (globalThis.Notification && !navigator.userAgent.includes("Android") ? Notification.requestPermission() : "denied");

/** Calls the person for requests that are new. No page's or agent's words are in the notification. */
export function call(requests) {
  if (settings.sound) ring();
  if (notifies() && document.hidden) requests.forEach(notify);
}

/** Shows that an agent asks for a person, who is led to that request by a click. */
function notify({ id, kind }) {
  const shown = new Notification(`An agent ${KINDS[kind] ?? KINDS.other}`, { tag: id, icon: "/wall/static/mark.svg" });
  shown.onclick = () => {
    shown.close();
    focus();
    location.hash = `#/request/${encodeURIComponent(id)}`;
  };
}

function ring() {
  const audio = new AudioContext();
  TONES_HZ.forEach((frequency, place) => {
    const [tone, volume] = [new OscillatorNode(audio, { frequency }), new GainNode(audio, { gain: 0.08 })];
    tone.connect(volume).connect(audio.destination);
    tone.start(audio.currentTime + place * TONE_S);
    tone.stop(audio.currentTime + (place + 1) * TONE_S);
  });
  setTimeout(() => audio.close(), 1000 * TONE_S * (TONES_HZ.length + 2));
}
