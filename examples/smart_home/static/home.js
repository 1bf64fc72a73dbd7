// The home page: shows what the server says, and asks it for changes. Nothing is shown before the server confirmed it.

const byId = (id) => document.getElementById(id);

function lightTile(name) {
  const item = document.createElement("li");
  item.innerHTML = `
    <button type="button" role="switch" class="tile light">
      <span class="name"></span><span class="detail"></span><span class="track"></span>
    </button>`;
  const button = item.firstElementChild;
  button.id = `light-${name}`;
  button.dataset.light = name;
  button.setAttribute("aria-label", name);
  button.querySelector(".name").textContent = name;
  button.addEventListener("click", () => flip(button, `/api/lights/${encodeURIComponent(name)}`, "on"));
  byId("lights").append(item);
  return button;
}

function showSwitch(button, checked, detail) {
  button.setAttribute("aria-checked", String(checked));
  button.removeAttribute("aria-busy");
  button.querySelector(".detail").textContent = detail;
}

function showLights(lights) {
  for (const [name, on] of Object.entries(lights)) {
    showSwitch(byId(`light-${name}`) ?? lightTile(name), on, on ? "On" : "Off");
  }
  const states = Object.values(lights);
  byId("lights-summary").textContent = `${states.filter(Boolean).length} of ${states.length} on`;
}

function showPresence({ present, known_people: people }) {
  showSwitch(byId("presence"), present, present ? `Home: ${people.join(", ")}` : "Nobody is home");
}

function showCounts(counts) {
  for (const figure of document.querySelectorAll("[data-count]")) {
    figure.textContent = counts[figure.dataset.count] ?? 0;
  }
}

function activityItem({ who, what, when }) {
  const item = document.createElement("li");
  item.innerHTML = "<p><strong></strong> <span></span></p> <time></time>";
  item.querySelector("strong").textContent = who;
  item.querySelector("span").textContent = what;
  item.querySelector("time").dateTime = when;
  item.querySelector("time").textContent = new Date(when).toLocaleTimeString();
  return item;
}

function show(view) {
  showLights(view.lights);
  showSwitch(byId("alarm"), view.alarm, view.alarm ? "Armed" : "Disarmed");
  showPresence(view.presence);
  showCounts(view.counts);
  byId("activity").replaceChildren(...view.history.map(activityItem));
  byId("activity-empty").hidden = view.history.length > 0;
}

function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

function showConnection(live) {
  byId("connection").textContent = live ? "Live" : "Reconnecting";
  byId("connection").classList.toggle("live", live);
}

async function ask(path, change) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(change),
  });
  if (response.status === 401) location.assign("/login");
  if (!response.ok) throw new Error(`the house answered ${response.status}`);
}

// The switch stays busy until the event stream brings the new state; one that is busy takes no second click.
async function flip(button, path, field) {
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    await ask(path, { [field]: button.getAttribute("aria-checked") !== "true" });
    showProblem("");
  } catch (error) {
    button.removeAttribute("aria-busy");
    showProblem(`${button.getAttribute("aria-label")} could not be switched: ${error.message}`);
  }
}

function hear({ data: { view, live, refused } }) {
  if (view) show(view);
  if (live !== undefined) showConnection(live);
  if (refused) location.assign("/login");
}

byId("alarm").addEventListener("click", () => flip(byId("alarm"), "/api/alarm", "armed"));
byId("presence").addEventListener("click", () => flip(byId("presence"), "/api/presence", "present"));
show(JSON.parse(byId("view").textContent));
new SharedWorker("/static/feed.js").port.onmessage = hear;
