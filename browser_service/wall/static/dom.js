// Makes elements. Texts become text nodes, so that no page's title or agent's word is ever read as HTML.

export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (isNothing(value)) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) made.style.setProperty(key, each ?? "");
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => !isNothing(child)));
  return made;
}

const isNothing = (value) => value === undefined || value === null || value === false;

/** Makes an icon from the path that it is drawn by, in a square of 20. */
export function icon(path) {
  const [drawn, line] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
  drawn.setAttribute("viewBox", "0 0 20 20");
  drawn.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  drawn.append(line);
  return drawn;
}

/** Makes a menu of buttons, which a press outside, Escape or a choice closes. */
export function menu(name, ...buttons) {
  const made = el("details", { className: "menu", onkeydown: (event) => {
    if (event.key !== "Escape" || !made.open) return;
    event.stopPropagation();
    close();
    made.firstElementChild.focus();
  }, onfocusout: ({ relatedTarget }) => made.contains(relatedTarget) || close() },
    el("summary", { className: "button icon", "aria-label": name, title: name }, "⋯"), el("div", { onclick: () => close() }, buttons));
  const close = () => { made.open = false; };
  return made;
}

/** Gives an element the colour of an owner, or that of nobody. */
export const paint = (element, colour) => element.style.setProperty("--owner", colour ? `var(--${colour})` : "");

const drawn = new WeakMap();
/** Returns whether an element is to be drawn anew: whether these are other facts than when this was asked before. */
export function differs(element, ...facts) {
  const text = JSON.stringify(facts);
  const isNew = drawn.get(element) !== text;
  drawn.set(element, text);
  return isNew;
}

/** Opens a dialog of these parts, which is gone once it is closed. */
export function sheet(className, title, ...parts) {
  const made = el("dialog", { className, "aria-labelledby": "sheet", onclose: () => made.remove() }, el("h2", { id: "sheet" }, title), ...parts);
  document.body.append(made);
  made.showModal();
  return made;
}

/** Makes a button that closes the dialog in which it is, and then does what `press` says. */
export const closes = (content, className = "", press = () => {}) => el("button", { type: "button", className, onclick: ({ currentTarget }) => {
  currentTarget.closest("dialog").close();
  press();
} }, content);

/** Sets a text only where it differs, so that screen readers and selections are left alone. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Has a parent show these children, in this order, and moves only those that are elsewhere. */
export function arrange(parent, children) {
  children.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

/** Changes which buttons are there, and moves the focus from one that is gone to one that is there. */
export function keepFocus(buttons, change) {
  const [all, focused] = [Object.values(buttons), document.activeElement]; // which is none once it is hidden
  change();
  if (focused?.hidden && all.includes(focused)) all.find((each) => !each.hidden)?.focus();
}

/** Tells a screen reader. */
export function say(text) {
  write(document.getElementById("said"), text);
}
