// Says times, names and states in words.

import { UNPICTURED, called, deed as did, outcome, refusal, shown, verb } from "./acts.js";

export function ago(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 5) return "just now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  return `${Math.floor(s / 3600)} h ago`;
}

export const since = (at) => ago(Date.now() / 1000 - at);
export const time = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
export const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

export const host = (url) => (URL.canParse(url) && new URL(url).host) || url || "";
export const toPage = (id) => `#/page/${encodeURIComponent(id)}`;
export const path = (url) => (URL.canParse(url) ? new URL(url).pathname : "");

export function owner(page) {
  if (page.owner) return page.owner.agent ? `${page.owner.label} · ${page.owner.agent}` : page.owner.label || "An agent";
  if (page.group === "people") return "A person";
  return page.leftBy ? `Left by ${page.leftBy}` : "Nobody";
}

/** Whether an agent is the owner of a page. */
export const owns = ({ label, colour }, page) => page?.owner?.label === label && page.owner.colour === colour;

export const capital = (text) => text.replace(/^./, (first) => first.toUpperCase());

/** Says how an agent is held, by whom and since when. */
export const halted = ({ how, by, at, until }) => `${how === "stop" ? "stopped" : "paused"}${by ? ` by ${by}` : ""} ${how === "stop" ? `since ${clock(at)}` : `until ${clock(until)}`}`;

/** Says how many pages an agent has and since when it is there. */
export const standing = ({ pages, since }) => `${pages === 1 ? "1 page" : `${pages} pages`} · ${since ? `here since ${clock(since)}` : "away"}`;

export { UNPICTURED, called, outcome, refusal, shown, verb };
/** Says what a recorded act did. */
export const deed = ({ action, arguments: given, outcome: end = "ok" }) => did(action, given?.fields?.length, end !== "ok");

const UNSAID = /^~[0-9a-f]{12}$|^\(\d+ characters?\)$/; // the handle of an agent, or the length of what is not on record
/** Returns what an act was aimed at, in words. Of a person's typing there is nothing to say. */
export function aim({ action, arguments: given = {} }) {
  const { timeout, stop, ...rest } = given;
  if (action === "mouse") return [rest.do, rest.x !== undefined && `at ${Math.round(rest.x)}, ${Math.round(rest.y)}`].filter(Boolean).join(" ");
  if (rest.selector === ":focus") return (rest.files ?? []).map(({ name }) => name).join(", ");
  const says = (value) => typeof value === "number" || (typeof value === "string" && !UNSAID.test(value));
  return Object.entries(rest).filter(([, value]) => says(value)).map(([name, value]) => (name === "selector" ? called(value) : value)).join(" · ");
}

export const STATES = {
  hung: "This page does not answer",
  crashed: "This page crashed",
  parked: "Parked: it comes back when it is used",
  resting: "No window now: it comes back when it is used",
  closed: "This page is closed",
  hidden: "Hidden: a password may be seen here",
  locked: "Private",
  asks: "No picture while the page asks",
};

export const ASKS_ANYBODY = { login: "asks for somebody to sign in", code: "asks somebody for a code", decision: "asks somebody to decide", tab: "asks for one of somebody’s tabs", other: "asks for somebody" };
export const KINDS = { login: "asks you to sign in", code: "asks for a code", decision: "asks you to decide", tab: "asks for one of your tabs", other: "asks for you" };
export const HOLDS = { stopped: "You stopped it", taken: "In your hands", login: "Waits for you to sign in", code: "Waits for a code", decision: "Waits for your decision", tab: "Waits for one of your tabs", other: "Waits for you" };
