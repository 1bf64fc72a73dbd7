// Scrolls the given element or the nearest scrollable one around it; for a page that does not scroll itself, whatever
// is in its middle, else the largest that scrolls. Returns how far it scrolled, and how far it still can.
import {named} from "./element_name.js";
import {around} from "./past_names.js";

const MOST = 5000;

export default async (e, {to, x, y}) => {
  const root = document.scrollingElement || document.documentElement;
  const across = to === null && !y && Boolean(x);
  const rolls = n => {
    const room = across ? n.scrollWidth - n.clientWidth : n.scrollHeight - n.clientHeight;
    const style = getComputedStyle(n), overflow = across ? style.overflowX : style.overflowY;
    return room > 0 && (n === root || /auto|scroll/.test(overflow));
  };
  const rolling = n => { while (n && !rolls(n)) n = around(n); return n; };
  const shown = n => {
    const {left, top, right, bottom} = n.getBoundingClientRect();
    return Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)) * Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
  };
  const seen = within => [...within.querySelectorAll('*')].slice(0, MOST).flatMap(n => [
    ...n.scrollHeight > n.clientHeight || n.scrollWidth > n.clientWidth ? [n] : [], ...n.shadowRoot ? seen(n.shadowRoot) : []]);
  const largest = () => seen(document).filter(n => rolls(n) && n.checkVisibility({visibilityProperty: true}) && shown(n))
    .sort((a, b) => shown(b) - shown(a))[0];
  const middle = () => rolls(root) ? root : rolling(document.elementFromPoint(innerWidth / 2, innerHeight / 2)) ?? largest();
  const it = (e === document.documentElement ? middle() : rolling(e)) || root;
  const place = () => [Math.round(it.scrollLeft), Math.round(it.scrollTop)], before = place();
  const screen = to === null && x === null && y === null ? it.clientHeight * 0.9 : 0;
  if (to === 'top' || to === 'bottom') it.scrollTo({top: to === 'top' ? 0 : it.scrollHeight, behavior: 'instant'});
  it.scrollBy({left: x ?? 0, top: y ?? screen, behavior: 'instant'});
  await Promise.race([new Promise(then => requestAnimationFrame(() => setTimeout(then))),
    new Promise(then => setTimeout(then, 300))]);
  const [left, top] = place();
  return {
    what: it === root ? 'the page' : named(it).split(' ')[0], position: {x: left, y: top},
    moved: {x: left - before[0], y: top - before[1]},
    more: {up: top, down: Math.max(0, it.scrollHeight - it.clientHeight - top),
      left, right: Math.max(0, it.scrollWidth - it.clientWidth - left)},
  };
};
