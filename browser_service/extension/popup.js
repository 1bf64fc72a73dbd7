// Shows the owner of the current tab, and the person's buttons. All texts are text nodes.

const KINDS = { login: "asks you to sign in", code: "asks for a code", decision: "asks you to decide", tab: "asks for a tab of yours" };
const FIELDS = { code: "The code", decision: "Your decision", other: "Your answer" }; // the others need the page
const LINKS = { live: "Live", lost: "No connection", refused: "Refused", unpaired: "Not paired" };
const service = chrome.runtime.connect();
let readOnly = false;
let shown = "";

service.onMessage.addListener(draw);

function el(tag, { colour, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  if (colour) made.style.setProperty("--owner", `var(--${colour})`);
  made.append(...children.flat().filter(Boolean));
  return made;
}

function draw(told) {
  const { status, reason, refusal, state, target, page } = told;
  if (shown === JSON.stringify(told)) return; // what is typed stays
  shown = JSON.stringify(told);
  const link = document.getElementById("link"), main = document.getElementById("main");
  link.textContent = LINKS[status];
  link.dataset.status = status;
  main.removeAttribute("aria-busy");
  main.replaceChildren(...(state ? parts(state, target, page, refusal) : [missing(status, reason)]).filter(Boolean));
}

function missing(status, reason) {
  const [text, command] = {
    unpaired: ["Open the link that this command shows, once, in this browser:", "browse-together extension"],
    refused: [reason, "browse-together extension"],
    lost: ["The service does not answer. It starts with the next call of an agent, or by:", "browse-together up --detach"],
  }[status] ?? ["Connecting …", ""];
  return el("section", {}, el("p", {}, text), command && el("p", {}, el("code", {}, command)));
}

function parts(state, target, page, refusal) {
  return [refusal && el("p", { className: "refused", role: "alert" }, refusal), requests(state), whose(state, page), page || target ? acts(state, target, page) : null,
    el("footer", {}, el("a", { className: "button", href: state.wall, target: "_blank" }, "Open the wall"))];
}

function whose(state, page) {
  const owner = page && state.agents.find(({ to }) => to === page.owner);
  const may = page?.readOnly ? "reads this tab" : "has this tab";
  if (!page) return el("section", {}, el("p", { className: "owner" }, "Yours"), el("p", { className: "quiet" }, state.browser || "No agent knows of this tab."));
  if (page.held) return el("section", {}, el("p", { className: "owner" }, "In your hands"), el("p", { className: "quiet" }, `Agents are kept out of ${page.pageId}. Give it back on the wall, or share it anew.`));
  if (!owner) return el("section", {}, el("p", { className: "owner" }, "Shared with all agents"), el("p", { className: "quiet" }, `They call it ${page.pageId}${page.readOnly ? ", and may only read it" : ""}.`));
  return el("section", {}, el("p", { className: "owner", colour: owner.colour }, owner.label), el("p", { className: "quiet" }, `${may}, as ${page.pageId}.`));
}

function acts(state, target, page) {
  const ask = (message) => (event) => {
    for (const button of document.querySelectorAll("button")) button.disabled = true;
    event.target.textContent = "…";
    service.postMessage({ target, ...message });
  };
  const share = (to) => ask({ type: "move", to, access: readOnly ? "read" : "act" });
  const others = state.agents.filter(({ to, present }) => present && to !== page?.owner);
  const only = el("input", { type: "checkbox", checked: readOnly, onchange: () => { readOnly = only.checked; } });
  return el("section", {},
    el("h2", {}, page ? "Give it to" : "Share this tab with"),
    el("div", { className: "buttons" },
      others.map(({ to, label, colour }) => el("button", { type: "button", className: "agent", colour, onclick: share(to) }, label)),
      !page?.agents && el("button", { type: "button", onclick: share("*") }, "All agents")),
    !page?.agents && el("label", {}, only, "They may only read it"),
    page && el("div", { className: "buttons" },
      !page.agents && el("button", { type: "button", onclick: ask({ type: "move", to: "" }) }, "Take back"),
      !page.held && page.owner && el("button", { type: "button", className: "danger", onclick: ask({ type: "stop" }) }, "Stop this act")));
}

function requests(state) {
  if (!state.requests.length) return null;
  return el("section", {}, el("h2", {}, "Waiting for you"), el("ul", {}, state.requests.map(request)));
}

/** Shows a request. It is answered there, unless its page is needed for that. */
function request({ requestId, askedBy, colour, kind, message, choices, url }) {
  const give = (state, answer) => {
    for (const button of document.querySelectorAll("button")) button.disabled = true;
    service.postMessage({ type: "answer", requestId, state, answer });
  };
  const field = !choices.length && FIELDS[kind] && el("input", { type: "text", maxLength: 2000, required: kind === "decision", placeholder: FIELDS[kind], ariaLabel: FIELDS[kind], autocomplete: "off" });
  return el("li", { className: "request" },
    el("p", {}, el("span", { className: "owner", colour }, askedBy), ` ${KINDS[kind] ?? "asks for you"}`), message && el("p", { className: "message" }, message),
    el("form", { className: "buttons", onsubmit: (event) => {
      event.preventDefault();
      give("done", field.value);
    } },
      field, field && el("button", {}, "Send"), choices.map((choice) => el("button", { type: "button", onclick: () => give("done", choice) }, choice)),
      el("button", { type: "button", onclick: () => give("refused", field ? field.value : "") }, "Decline"), el("a", { className: "button", href: url, target: "_blank" }, "Open its page")));
}
