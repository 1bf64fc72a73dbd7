// Watches a click from just before the mouse goes down, and returns whether it reached its element and what the page
// did. `kind` is the event that ends the press. Without `force`, no element is looked up beforehand: Playwright ensures
// that the mouse goes down on the right one, so a click on the same element is certain. In doubt, it returns null, and
// click_verdict then names the element. With `first`, it only starts to watch, and returns how the element is
// found again; the verdict is asked for afterwards.
import {named} from "./element_name.js";
import {lasting} from "./lasting.js";

export const witness = (found, {kind, force, first, name}) => {
  const around = 'button, [role=button], a, [role=link]';
  const itself = e => e?.matches('input, textarea, select') || e?.isContentEditable;
  const target = e => itself(e) ? e : e?.closest(around) || e;
  const off = new AbortController(), invalid = [], unfit = new Set();
  let down, up, click, submit, pressed, html, enabled, asks = false, equals = [], saving = [];
  const note = e => {
    pressed = target(e);
    enabled = !pressed.matches(':disabled');
    html = pressed.outerHTML;
    equals = [...pressed.getRootNode().querySelectorAll(pressed.localName)];
  };
  const anew = () => [...document.querySelectorAll(pressed.localName)].some(
    e => e.outerHTML === html && !equals.includes(e));
  const reached = e => click?.path.some(n => n === e || n.localName === 'label' && n.control === e);
  const missed = meant => {
    const e = meant && (force || down?.path.includes(meant)) ? meant : pressed;
    if (!e || reached(e) || !force && !down) return {};
    const landed = !force && down.path.includes(e) && enabled;
    if (e.matches(':disabled')) return landed ? {then: 'disabled'} : {missed: 'disabled'};
    if (down && !down.path[0].isConnected) return e.isConnected || anew() ? {missed: 'replaced'} : {left: true};
    const over = landed && up && !up.path.includes(e) && up;
    const got = over || click || !down?.path.includes(e) && (up || down);
    if (!got) return {missed: 'stopped'};
    const box = e.getBoundingClientRect(), {x, y} = down || got;
    const moved = down?.path.includes(e) && (x < box.left || x > box.right || y < box.top || y > box.bottom);
    const by = named(got.path[0]);
    return landed && !moved ? {then: 'covered', by} : {missed: moved ? 'moved' : 'taken', by};
  };
  const files = n => n?.localName === 'input' && n.type === 'file';
  const saves = n => n?.localName === 'a' && n.href && n.hasAttribute('download')
    && (n.origin === location.origin || n.protocol === 'data:');  // of other origins, a browser ignores the attribute
  const sends = n => n.form && /submit|image/.test(n.type);
  const stopped = () => {
    if (submit) return submit.defaultPrevented ? 'form' : '';
    const by = click?.event.defaultPrevented ? click.path : [];
    return by.some(sends) ? 'form' : by.some(n => n.href) ? 'link' : '';
  };
  const clear = () => !down || click && click.path[0] === down.path[0];
  const sending = () => !click || click.path.some(sends) || unfit.has(document.activeElement);  // not checkValidity()
  const verdict = of => { off.abort(); return {...missed(target(of[0])), stopped: stopped(), asks,
    invalid: sending() ? invalid : [], saves: saving.some(e => !e.defaultPrevented)}; };
  const on = (type, act) => addEventListener(type, act, {capture: true, passive: true, signal: off.signal});
  const seen = event => ({event, path: event.composedPath(), x: event.clientX, y: event.clientY});
  const later = act => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = act;
    port2.postMessage(0);
  };
  if (force && found[0]) note(found[0]);
  const watching = new Promise(tell => {
    const end = () => { if (!first) tell(clear() ? verdict([]) : null); };
    const last = () => later(() => later(end));
    on('pointerdown', e => { if (e.isTrusted && !down) { down = seen(e); if (!force) note(down.path[0]); } });
    on('pointerup', e => { if (e.isTrusted && !up) { up = seen(e); last(); } });
    on(kind, e => { if (e.isTrusted && !click) { click = seen(e); clear() ? last() : end(); } });
    on('click', e => {
      const path = e.composedPath();
      asks ||= path.some(n => files(n) || files(n.control));
      if (path.some(saves)) saving.push(e);
    });
    addEventListener(kind, e => {
      if (click?.event === e && clear() && !click.path.some(sends)) end();  // nothing more can follow
    }, {passive: true, signal: off.signal});
    on('invalid', ({target: e}) => {
      unfit.add(e);
      invalid.push([(e.labels?.[0]?.innerText || e.ariaLabel || e.placeholder || e.name || e.localName).trim(),
        e.validationMessage]);
    });
    on('submit', e => { submit = e; });
    on(name, e => { e.detail.verdict = verdict(e.detail.found); tell(e.detail.verdict); });
  });
  return first ? {early: found[0] ? lasting(found[0]) : null} : watching;
};

export default witness;
