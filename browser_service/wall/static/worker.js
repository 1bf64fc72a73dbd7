// Shows what agents ask for, told by a window of the wall or by the push service, and leads to the wall by a click.
// The words for kinds of requests are in its own address: a worker imports no module everywhere.

const KINDS = new URLSearchParams(location.search);
const show = ({ id, kind }) => registration.showNotification(`An agent ${KINDS.get(kind) ?? KINDS.get("other")}`, { tag: id, icon: "/wall/static/mark.svg" });

addEventListener("message", (event) => event.waitUntil(show(event.data)));
addEventListener("push", (event) => event.waitUntil(show(event.data.json())));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(lead(event.notification.tag));
});

async function lead(id) {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const wall = windows.find(({ url }) => new URL(url).pathname === "/");
  if (!wall) return clients.openWindow(`/#/request/${encodeURIComponent(id)}`);
  wall.postMessage(id);
  return wall.focus();
}
