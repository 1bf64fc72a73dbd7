// Signs in: posts the link's code once, and keeps the proof that the socket wants besides the cookie. A guest with the link
// of a request has that request's key instead, in this window alone.

const KEY = "browse-together.proof";
const ASKED = "browse-together.asked";
const proof = () => localStorage.getItem(KEY) ?? "";

/** Returns the socket's address, and the proof to send there; the proof is empty for people who are not signed in. */
export function ticket() {
  const asked = JSON.parse(sessionStorage.getItem(ASKED));
  return asked ? { path: `/wall/socket?request=${encodeURIComponent(asked.request)}`, proof: asked.key, isOfRequest: true } : { path: "/wall/socket", proof: proof() };
}

export const forgetRequest = () => sessionStorage.removeItem(ASKED);

/** Returns what stands behind the `#`: the code of a link, or a place on the wall. The address is cleaned at once. */
export function arrival() {
  const [code, ...rest] = location.hash.slice(1).split("&");
  if (!code || code.startsWith("/")) return { code: "" };
  const more = new URLSearchParams(rest.join("&"));
  const at = more.get("page") ? `#/page/${encodeURIComponent(more.get("page"))}` : "#/";
  history.replaceState(null, "", `${location.pathname}${at}`);
  const request = more.get("request");
  if (!request) forgetRequest();
  else sessionStorage.setItem(ASKED, JSON.stringify({ request, key: code }));
  return { code: request ? "" : code };
}

/** Trades a code for the proof. Throws the service's refusal. */
export async function enter(code) {
  const { proof: given } = await post("/wall/enter", { code });
  localStorage.setItem(KEY, given);
}

/** Calls back once another window of this browser gets in: so does this one then. */
export const onEntry = (back) => addEventListener("storage", ({ key, newValue }) => key === KEY && newValue && back());

/** Renews the viewer's time, where the service allows it. */
export const renew = () => post("/wall/renew", {});

export const leave = () => post("/wall/leave", {}).finally(() => localStorage.removeItem(KEY));

/** Sends a file, and returns its artifactId. Throws the service's refusal. */
export const send = (file) => ask("PUT", ticket().path.replace("socket", "files"), "application/octet-stream", file, ticket().proof);

const post = (path, body) => ask("POST", path, "application/json", JSON.stringify(body));

async function ask(method, path, type, body, proven = proof()) {
  const reply = await (await fetch(path, { method, body, headers: { "Content-Type": type, "X-Browse-Proof": proven } })).json();
  if (!reply.success) throw new Error(reply.error.message);
  return reply.result;
}
