const id = location.pathname.split("/").pop();
const key = location.hash.slice(1);
const at = `/api/requests/${encodeURIComponent(id)}`;
const byId = (name) => document.getElementById(name);
const HOW = {
  login: "Sign in on that page, in the window of the shared browser; then say that it is done. "
    + "If the browser has no window: browse-together login",
  code: "Type the code here, or on that page in the window of the shared browser.",
};
const LABELS = { code: "The code, if it is not typed into the page", decision: "Your decision" };
let over = false;

async function ask(path, body) {
  const headers = { Authorization: `Bearer ${key}` };
  const options = body ? { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) } : { headers };
  const reply = await (await fetch(path, options)).json();
  if (!reply.success) throw new Error(reply.error.message);
  return reply.result;
}

function show(request) {
  const others = request.joinedBy.length ? `, and ${request.joinedBy.join(", ")} wait for the same` : "";
  byId("who").textContent = request.ofRule ? "A rule of yours leaves this to you:"
    : `The agent ${request.askedBy} asks you${others}, in its own words:`;
  byId("message").textContent = request.message;
  byId("title").textContent = request.title;
  byId("url").textContent = request.url;
  byId("origin").textContent = request.origin || "none";
  byId("waiting").textContent = `for ${Math.round(request.askedAgoMs / 1000)} s`;
  byId("about").hidden = byId("form").hidden = false;
  byId("how").textContent = HOW[request.kind] ?? "";
  byId("how").hidden = !HOW[request.kind];
  const choices = byId("choices");
  if (request.choices.length && choices.childElementCount === 1) {
    for (const choice of request.choices) {
      const radio = Object.assign(document.createElement("input"), { type: "radio", name: "choice", value: choice, required: true });
      const label = document.createElement("label");
      label.append(radio, ` ${choice}`);
      choices.append(label);
    }
  }
  choices.hidden = !request.choices.length;
  byId("field").hidden = request.kind === "login" || request.choices.length > 0;
  byId("label").textContent = LABELS[request.kind] ?? "Your answer, if there is one";
  byId("answer").required = request.kind === "decision" && !request.choices.length;
}

function end(text) {
  over = true;
  byId("form").hidden = byId("how").hidden = byId("about").hidden = true;
  byId("state").textContent = text;
}

async function answer(body, text) {
  for (const button of document.querySelectorAll("button")) button.disabled = true;
  try {
    await ask(`${at}/resolve`, body);
    end(text);
  } catch (error) {
    byId("state").textContent = error.message;
    for (const button of document.querySelectorAll("button")) button.disabled = false;
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = document.querySelector("[name=choice]:checked");
  answer({ state: "done", answer: chosen ? chosen.value : byId("answer").value }, "Thank you: the agents go on. You can close this page.");
});
byId("refuse").addEventListener("click", () => answer({ state: "refused", reason: byId("answer").value }, "Declined. You can close this page."));

async function look() {
  if (over) return;
  try {
    show(await ask(at));
  } catch (error) {
    byId("who").textContent = "";
    end(error.message);
  }
  if (!over) setTimeout(look, 3000);
}

look();
