// Plays what was done. All of it is data, and is written as text.
(() => {
  const { about, acts: all, images } = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const source = (place) => `data:image/${images[place].startsWith("/9j/") ? "jpeg" : "webp"};base64,${images[place]}`;
  const PAUSES = { before: 1100, after: 1700, none: 1100 };
  const SPEEDS = [1, 2, 4, 0.5];
  const PLAY = "M6 3.5v13l11-6.5z";
  const PAUSE = "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z";
  let refused = {}; // the refusal before, if it was one, and how often that came
  const acts = all.filter((act) => {
    const key = refusal(act, act.words);
    if (key && key === refused.key) return !(refused.act.times += 1);
    refused = { key, act: Object.assign(act, { times: 1 }) };
    return true;
  });
  let places = acts.map((_, place) => place); // of the acts that are chosen
  let at = 0, side = "after", timer = 0, speed = 1;

  function el(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  const date = (act) => new Date(act.time);
  const day = (act) => date(act).toLocaleDateString([], { year: "numeric", month: "long", day: "numeric" });
  const clock = (act) => date(act).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  const took = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
  const did = (act) => deed(act.action, act.fields, failed(act));
  const ending = (act) => outcome(act) + (act.times > 1 ? ` · ${act.times} times` : "");
  const who = (act) => act.client || "A client";
  const both = (act) => act.before && (act.after || act.unseen);
  const failed = (act) => act.outcome !== "ok";
  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  // --- the head ---

  function head() {
    const first = acts[0], last = acts[acts.length - 1];
    const span = day(first) === day(last)
      ? `${day(first)}, ${clock(first)} to ${clock(last)}`
      : `${day(first)}, ${clock(first)} to ${day(last)}, ${clock(last)}`;
    const clients = new Set(acts.map(who)).size, wrong = all.filter(failed).length;
    const parts = [span, many(all.length, "act"), many(clients, "client"), wrong ? `${wrong} failed` : "none failed"];
    const { pageId, ...filters } = about.filters;
    for (const [name, value] of Object.entries(filters)) parts.push(`${name} ${value}`);
    $("about").textContent = parts.join(" · ");
    $("left-out").hidden = !about.leftOut.length;
    $("left-out").textContent = about.leftOut.join(" ");
  }

  // --- one act ---

  function fact(list, name, value, kind = "", title = "") {
    list.append(el("dt", { textContent: name }), el("dd", { textContent: value, className: kind, title }));
  }

  function facts(act) {
    const list = $("facts");
    list.replaceChildren();
    fact(list, "Result", failed(act) ? `${ending(act)}, after ${took(act.durationMs)}` : `done in ${took(act.durationMs)}`, failed(act) ? "wrong" : "good", act.outcome);
    if (act.pageId) fact(list, "Page", act.sessionId && act.sessionId !== "default" ? `${act.pageId}, in session ${act.sessionId}` : act.pageId);
    if (act.urlBefore) fact(list, act.urlAfter ? "From" : "At", act.urlBefore);
    if (act.urlAfter) fact(list, "Led to", act.urlAfter);
    for (const request of act.requests ?? []) fact(list, "Sent", `${request.method} ${request.url} ${request.status || "no answer"}`, request.status >= 400 || !request.status ? "wrong" : "");
  }

  function picture() {
    const act = acts[at], found = act[side];
    for (const each of ["before", "after"]) {
      $(each).setAttribute("aria-pressed", String(each === side && Boolean(act[each] || act.unseen)));
      $(each).disabled = !(act[each] || (each === "after" && act.unseen));
    }
    $("image").hidden = !found;
    $("note").textContent = found ? "" : UNPICTURED[act.unseen] ?? (act.leftOut ? "Its pictures are left out, as said above" : about.unpictured);
    if (found) {
      const is = found === act.before ? "before" : "after";
      $("image").src = source(found.image);
      $("image").alt = `${who(act)} ${did(act)}: the page ${is}, pictured at ${clock(found)}`;
      $("paper").style.setProperty("--ratio", found.width / found.height);
      $("picture").style.setProperty("--ratio", found.width / found.height);
    }
    mark(act, found);
  }

  function mark(act, found) {
    const box = act.target, target = $("target");
    const aimed = found && box && (found === act.before || !act.before);
    const inside = aimed && box.x < found.width && box.y < found.height && box.x + box.width > 0 && box.y + box.height > 0;
    target.hidden = !inside;
    if (!inside) return;
    const part = (value, whole) => `${(100 * value) / whole}%`;
    target.classList.toggle("pointed", POINTED.includes(act.action));
    for (const [name, value, whole] of [["left", box.x, found.width], ["top", box.y, found.height], ["width", box.width, found.width], ["height", box.height, found.height]])
      target.style.setProperty(name, part(value, whole));
  }

  function show(place, { say = true } = {}) {
    at = Math.max(0, Math.min(acts.length - 1, place));
    const act = acts[at], stage = document.querySelector(".stage");
    side = timer && both(act) ? "before" : "after";
    if (act.colour) stage.style.setProperty("--owner", `var(--${act.colour})`);
    else stage.style.removeProperty("--owner");
    stage.classList.toggle("failed", failed(act));
    $("owner").textContent = who(act);
    $("time").textContent = `${day(act)}, ${clock(act)}`;
    $("time").dateTime = act.time;
    $("act").textContent = did(act);
    $("words").textContent = act.words;
    facts(act);
    picture();
    const number = places.indexOf(at) + 1;
    $("slider").max = Math.max(1, places.length);
    $("slider").value = number;
    $("slider").setAttribute("aria-valuetext", `${number} of ${places.length}: ${who(act)}, ${did(act)}, ${clock(act)}`);
    $("count").textContent = `${number} / ${places.length}`;
    $("previous").disabled = number <= 1;
    $("next").disabled = number === places.length;
    current(say);
    if (say && !timer) $("said").textContent = `${number} of ${places.length}: ${who(act)}, ${did(act)}, ${failed(act) ? ending(act) : "done"}`;
  }

  function turn(to) {
    side = to;
    picture();
  }

  // --- the timeline ---

  const drawn = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) {
        target.src = source(target.dataset.image);
        drawn.unobserve(target);
      }
  }, { rootMargin: "400px" });

  const rows = acts.map((act, place) => {
    const small = act.after ?? act.before;
    const thumbnail = small ? el("img", { className: "small", alt: "" }) : el("span", { className: "small" });
    if (small) {
      thumbnail.dataset.image = small.image;
      drawn.observe(thumbnail);
    }
    const button = el("button", { type: "button", className: failed(act) ? "row failed" : "row", onclick: () => { stop(); show(place); } },
      thumbnail,
      el("span", { className: "lines" },
        el("span", { className: "first-line" }, el("span", { className: "owner cut", textContent: who(act) }), el("time", { className: "mono quiet", dateTime: act.time, textContent: clock(act) })),
        el("span", { className: "second-line cut" }, el("span", { className: "verb", textContent: did(act) }), ` ${act.words || ""}`),
        el("span", { className: failed(act) ? "first-line cut wrong" : "first-line cut quiet", title: act.outcome, textContent: [failed(act) ? ending(act) : took(act.durationMs), about.filters.pageId ? "" : act.pageId, act.requests?.length ? many(act.requests.length, "request") : ""].filter(Boolean).join(" · ") })));
    if (act.colour) button.style.setProperty("--owner", `var(--${act.colour})`);
    return el("li", {}, button);
  });

  const days = new Map();

  function list() {
    const several = day(acts[0]) !== day(acts[acts.length - 1]), children = [];
    acts.forEach((act, place) => {
      if (several && !days.has(day(act))) {
        days.set(day(act), el("li", { className: "day", textContent: day(act) }));
        children.push(days.get(day(act)));
      }
      children.push(rows[place]);
    });
    $("rows").replaceChildren(...children, none);
  }

  function current(scroll) {
    const list = $("rows"), row = rows[at].firstChild;
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "step");
    if (scroll && list.scrollHeight > list.clientHeight) {
      const top = row.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
    }
  }

  const said = (act) => [who(act), act.action, did(act), act.words, act.outcome, outcome(act), act.pageId, act.urlBefore, act.urlAfter, ...(act.requests ?? []).map((each) => each.url)].join(" ").toLowerCase();
  const texts = acts.map(said);
  const none = el("li", { className: "none", textContent: "No act matches.", hidden: true });

  function choose() {
    const page = $("page").value;
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    texts.forEach((text, place) => {
      rows[place].hidden = !words.every((word) => text.includes(word)) || (page !== "" && acts[place].pageId !== page);
    });
    places = rows.flatMap((row, place) => (row.hidden ? [] : [place]));
    for (const each of days.values()) each.hidden = places.length < acts.length;
    none.hidden = places.length > 0;
    $("found").textContent = places.length < acts.length ? many(places.length, "act") : "";
    show(places.find((place) => place >= at) ?? places.at(-1) ?? at);
  }

  function offerPages() {
    const counts = new Map();
    for (const { pageId } of acts) if (pageId) counts.set(pageId, (counts.get(pageId) ?? 0) + 1);
    $("page").hidden = counts.size < 2;
    $("page").append(el("option", { value: "", textContent: "All pages" }),
      ...[...counts].map(([id, count]) => el("option", { value: id, textContent: `${id} · ${many(count, "act")}` })));
  }

  // --- the player ---

  function pause() {
    const act = acts[at];
    return (both(act) ? PAUSES[side] : act.after ? PAUSES.after : PAUSES.none) / speed;
  }

  function tick() {
    const act = acts[at];
    if (both(act) && side === "before") turn("after");
    else if (at < places.at(-1)) go(1);
    else return stop();
    timer = setTimeout(tick, pause());
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    button("Play", PLAY);
  }

  function play() {
    if (timer) return stop();
    button("Pause", PAUSE);
    timer = -1;
    show(at === places.at(-1) ? places[0] : at);
    timer = setTimeout(tick, pause());
  }

  function button(name, shape) {
    $("play").setAttribute("aria-label", name);
    $("play").title = `${name} (space)`;
    $("play-shape").setAttribute("d", shape);
  }

  function step(by) {
    stop();
    go(by);
  }

  function go(by) {
    show(places[Math.max(0, Math.min(places.length - 1, places.indexOf(at) + by))] ?? at);
  }

  function faster() {
    speed = SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length];
    $("speed").textContent = `${speed}×`;
    $("speed").setAttribute("aria-label", `Speed ${speed}×`);
  }

  const KEYS = {
    " ": play,
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => step(-acts.length),
    End: () => step(acts.length),
    b: () => { stop(); if (both(acts[at])) turn(side === "before" ? "after" : "before"); },
    s: faster,
    "/": () => $("search").focus(),
  };

  addEventListener("keydown", (event) => {
    const into = event.target, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const own = into.matches("input[type=search], select") || (key === " " && into.matches("button")) || (into.matches("input") && key.length > 1);
    if (event.ctrlKey || event.metaKey || event.altKey || own || !KEYS[key]) return;
    event.preventDefault();
    KEYS[key]();
  });

  $("play").onclick = play;
  $("previous").onclick = () => step(-1);
  $("next").onclick = () => step(1);
  $("speed").onclick = faster;
  $("before").onclick = () => { stop(); turn("before"); };
  $("after").onclick = () => { stop(); turn("after"); };
  $("slider").oninput = () => { stop(); show(places[$("slider").value - 1] ?? at); };
  $("search").oninput = $("page").oninput = choose;
  document.body.classList.toggle("unpictured", !images.length);
  head();
  list();
  offerPages();
  show(Math.max(0, acts.findIndex((act) => act.before || act.after)), { say: false });
})();
