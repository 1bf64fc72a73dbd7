// Has the worker show what agents ask for, and has the browser's push service wake it while the wall is closed.

import { KINDS } from "./words.js";

const WORKER = `/wall/static/worker.js?${new URLSearchParams(KINDS)}`;

/** Returns where the worker is registered, once it runs. */
async function registered() {
  const found = await navigator.serviceWorker.register(WORKER);
  const comes = found.active ? null : found.installing ?? found.waiting;
  if (comes) await new Promise((resolve) => comes.addEventListener("statechange", () => found.active && resolve()));
  return found;
}

/** Shows that an agent asks for a person, who is led to that request by a click. */
export async function tellWorker({ id, kind }) {
  (await registered()).active.postMessage({ id, kind });
}

/** Has this browser called by its push service, if it is still wanted by then. Returns whether it is. */
export async function subscribe(socket, isWanted) {
  try {
    const { pushManager } = await registered();
    const { key } = await socket.ask("push");
    const options = { userVisibleOnly: true, applicationServerKey: key };
    const made = await pushManager.subscribe(options).catch(async () => { // maybe it takes calls from a former key
      await (await pushManager.getSubscription()).unsubscribe();
      return pushManager.subscribe(options);
    });
    const { endpoint, keys } = made.toJSON();
    if (isWanted()) await socket.ask("push", { subscription: { endpoint, ...keys } });
    else await made.unsubscribe();
    return isWanted();
  } catch {
    return false; // it has no push service, or cannot reach it
  }
}

/** Takes no calls in this browser any more. The service learns that from the push service, at the latest. */
export async function endCalls() {
  const found = await navigator.serviceWorker?.getRegistration(WORKER);
  await (await found?.pushManager?.getSubscription())?.unsubscribe();
}

export async function unsubscribe(socket) {
  await endCalls();
  await socket.ask("push", { off: true });
}
