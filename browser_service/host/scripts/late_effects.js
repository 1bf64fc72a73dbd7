// Starts to note effects of acts that do not change the document, or come later. Returns functions.
//
// `later` waits, for `most` ms at most, until what scripts asked for in the last `ms` ms has come. It returns whether any
// of it did, when the rest is due, what the page's policy refused, what scripts asked of the browser, and the words of an
// alert that went again. What is asked for within such a callback has that callback's cause, so what a page repeats by
// itself is no act's effect, and of an act's chain only the first steps are.
//
// `seen` returns what scrolled in that time, and where to, whether a handler wrote the storage, and what was refused and
// asked. If anything may have scrolled it does so a frame later; what scrolls has a second frame, and so has a page that
// is likely to (`rolls`).
//
// `motion` waits, for `most` ms at most, for animations that end within them, and returns whether there are any.
//
// `late` returns how many ms ago a message was sent, by the clock of its sender: a busy page hears it late. The other two
// get this on top of an act's age. Another machine's clock may be any time away, so it counts up to LONGEST_MS.
//
// It runs at the start of each document. The event `name` at a window asks for these functions later. A frame asks its
// parent by it: timers of frames of the same origin count as the page's.
import {browserCalls} from "./browser_calls.js";

export default (name, keepsApps) => {
  const MOST = 1000, STEPS = 3, LATE_MS = 50, FRAME_LATE_MS = 200, LONGEST_MS = 1500, FRAME_MS = 17, LISTED = 20, MOST_LOOKS = 50;
  const {apply} = Reflect, {round} = Math, {setTimeout, requestAnimationFrame} = globalThis, Later = Promise;
  const listen = (kind, act) => addEventListener(kind, act, {capture: true, passive: true});
  const notesOf = window => {
    const found = [];
    try { window.dispatchEvent(new window.CustomEvent(name, {detail: found})); } catch { return; }  // of another origin
    return found[0];
  };
  const {history} = globalThis, {replaceState} = history, before = notesOf(self);
  if (before) return before;
  const clock = performance, {now} = clock, calendar = Date, {now: today} = calendar;
  const shared = (parent !== self && notesOf(parent)?.shared)
    || {cause: null, count: 0, ran: -1, refused: null, called: null, copied: null, stored: null, alert: null, asked: {__proto__: null}, frames: 0, time: () => apply(now, clock, [])};
  const {time} = shared, timers = {__proto__: null}, frames = {__proto__: null}, turns = {__proto__: null};
  const own = {timers, frames, turns};
  const at = shared.frames++;
  shared.asked[at] = own;

  const end = (waiting, id) => {
    shared.count -= id in waiting ? 1 : 0;
    delete waiting[id];
  };
  const on = (name, handle) => {
    globalThis[name] = new Proxy(globalThis[name], {apply: (target, self, given) => handle(target, self, given)});
  };
  const stops = (name, waiting) => on(name, (target, self, given) => {
    if (typeof given[0] === 'number') end(waiting, given[0]);
    return apply(target, self, given);
  });
  const asks = (name, waiting, delay, late = LATE_MS) => on(name, (target, self, given) => {
    const act = given[0], from = time(), {cause} = shared;
    if (typeof act !== 'function' || shared.count >= MOST) return apply(target, self, given);
    const one = {since: cause ? cause.since : from, step: cause ? cause.step + 1 : 1, due: from + (delay ?? (+given[1] || 0)), late};
    given[0] = function (...rest) {
      const before = shared.cause;
      shared.cause = one;
      if (one.since > shared.ran) shared.ran = one.since;
      end(waiting, id);
      try { return apply(act, this, rest); } finally { shared.cause = before; }
    };
    const id = apply(target, self, given);
    waiting[id] = one;
    shared.count++;
    return id;
  });
  asks('setTimeout', timers);
  asks('setInterval', timers);
  stops('clearTimeout', timers);
  stops('clearInterval', timers);
  asks('requestAnimationFrame', frames, FRAME_MS, FRAME_LATE_MS);  // on a busy machine they come late, but they come
  stops('cancelAnimationFrame', frames);
  asks('requestIdleCallback', turns, FRAME_MS, FRAME_LATE_MS);
  stops('cancelIdleCallback', turns);

  const each = (since, act) => {
    for (const frame in shared.asked) {
      for (const kind in shared.asked[frame]) {
        const waiting = shared.asked[frame][kind];
        for (const id in waiting) if (waiting[id].since >= since && waiting[id].step <= STEPS) act(waiting[id]);
      }
    }
  };
  listen('pagehide', () => {
    for (const kind in own) for (const id in own[kind]) end(own[kind], id);
    delete shared.asked[at];
  });
  const isGranted = browserCalls((what, text) => {
    shared.called = {at: time(), what};
    if (what === 'copy') shared.copied = {at: time(), what: text};
    globalThis.setTimeout(() => {});  // after an act that starts nothing, nobody asks for this
  }, what => { shared.stored = {at: time(), what}; }, keepsApps);
  const since = (what, ms) => what?.at >= time() - ms ? what.what : null;
  const ALERT = '[role=alert], [role=alertdialog], [aria-live=assertive]', ALERT_CHARACTERS = 160;
  const wordsOf = e => (e?.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, ALERT_CHARACTERS);
  const isSecret = words => [...document.querySelectorAll('input[type=password]')].some(e => e.value && words.includes(e.value));
  const noteAlert = e => {
    const what = wordsOf(e);
    if (what && !isSecret(what)) shared.alert = {at: time(), what, e: new WeakRef(e)};
  };
  const noteAlerts = records => {
    for (let at = 0, last; at < records.length && at < MOST_LOOKS; at++) {
      const {target, addedNodes} = records[at];
      for (let each = 0; each < addedNodes.length && each < MOST_LOOKS; each++) {
        const node = addedNodes[each], around = node.nodeType === 1 ? node : target;
        const e = around.closest?.(ALERT) ?? around.querySelector?.(ALERT);
        if (e && e !== last) noteAlert(last = e);  // a list that fills in one announces itself once
      }
    }
  };
  new MutationObserver(noteAlerts).observe(document, {childList: true, subtree: true});
  const passed = ms => {
    const words = since(shared.alert, ms), e = words && shared.alert.e.deref();
    return words && !(e?.checkVisibility() && wordsOf(e)) ? words : null;
  };
  const told = ms => ({refused: since(shared.refused, ms), called: since(shared.called, ms), copied: since(shared.copied, ms), passed: passed(ms)});
  // A promise is awaited here only for a permission: on a page that replaced what promises do, it may bring anything.
  const later = async (ms, most) => {
    const began = time(), since = began - ms, until = began + most;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {  // a page may stop its clock
      const at = time();
      let last = 0;
      each(since, ({due, late}) => {  // what is due already stands behind a busy script, and comes at once
        if (due <= until && (due < began ? began : due) + late > at && due > last) last = due;
      });
      if (!last || at >= until) break;
      await new Later(then => apply(setTimeout, globalThis, [then, last > at ? last - at + 1 : 1]));
    }
    const left = [];
    each(since, ({due}) => { if (left.length < LISTED) left[left.length] = round(due - time()); });
    const found = {came: shared.ran >= since, due: left, ...told(time() - since)};
    if (found.called && await isGranted(found.called)) found.called = null;
    return found;
  };

  // Scrolling that brings the act's target into view is no effect; these are the positions just before the mouse or
  // key.
  let pressed = [], scrolled = null;
  const offset = e => round(e.scrollTop);
  const place = event => {
    pressed = [];
    scrolled = null;
    for (let e = event.target; e; e = e.parentNode ?? e.host) if (e.nodeType === 1) pressed[pressed.length] = [e, offset(e)];
  };
  listen('pointerdown', place);
  listen('keydown', place);
  listen('scroll', ({target}) => {
    const e = target.nodeType === 9 ? target.scrollingElement : target;
    if (!e || pressed.some(([held, at]) => held === e && at === offset(e))) return;
    scrolled = {at: time(), e};
  });
  listen('securitypolicyviolation', ({effectiveDirective, blockedURI, disposition}) => {
    if (disposition !== 'enforce') return;
    shared.refused = {at: time(), what: `${effectiveDirective} ${blockedURI}`};
    // Playwright waits for the navigation of a form that was refused, until the page moves in any way.
    if (effectiveDirective === 'form-action') apply(replaceState, history, [history.state, '']);
  });
  const isScrolled = () => [...document.querySelectorAll('*')].slice(0, MOST).some(
    e => offset(e) && !pressed.some(([held, at]) => held === e && at === offset(e)));
  const seen = async (ms, rolls) => {
    const began = time() - ms, frame = then => apply(requestAnimationFrame, globalThis, [then]);
    let before;
    if (rolls || scrolled?.at >= began || isScrolled()) await new Later(then => {
      frame(() => {
        before = scrolled && offset(scrolled.e);
        if (rolls || scrolled?.at >= began) frame(then);
        else then();
      });
      apply(setTimeout, globalThis, [then, 100]);
    });
    const e = scrolled?.at >= began && scrolled.e, at = e && offset(e), down = e && e.scrollHeight - e.clientHeight - at;
    const what = e && (e === document.scrollingElement ? 'the page' : `<${e.localName}${e.id ? '#' + e.id : ''}>`.slice(0, 60));
    const to = at <= 0 ? 'its top' : down <= 1 ? 'its end' : `${at} px of ${e.scrollHeight}`;
    const way = before === null || before === undefined ? '' : at < before ? ' up' : ' down';
    const moved = at === before ? `scrolled to ${to}` : `is scrolling${way}`;
    const found = {scrolled: e ? `${what} ${moved}` : null, stored: since(shared.stored, ms), ...told(ms)};
    if (found.called && await isGranted(found.called)) found.called = null;
    return found;
  };
  const motion = async most => {
    const ends = [];
    for (const {playState, effect, timeline, finished} of document.getAnimations()) {
      const {endTime, localTime} = playState === 'running' && timeline === document.timeline ? effect.getComputedTiming() : {};
      if (endTime - localTime <= most && ends.length < LISTED) ends[ends.length] = finished;
    }
    const {promise, resolve} = Later.withResolvers();
    apply(setTimeout, globalThis, [resolve, most]);
    if (ends.length) await Later.race([Later.allSettled(ends), promise]);
    return {came: ends.length > 0};
  };
  const late = sent => {
    const ms = apply(today, calendar, []) - sent;
    return ms > 0 && ms < LONGEST_MS ? ms : 0;
  };
  const notes = {later, seen, motion, late, shared};
  listen(name, ({detail}) => { detail[0] = notes; });
  return notes;
};
