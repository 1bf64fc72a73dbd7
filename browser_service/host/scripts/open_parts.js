// Returns how many elements lie directly in open shadow roots, and how many of those that a selector finds have nothing of
// their own and are drawn as high as words, so that a closed root may have these.
import {boxOfElement, shadowOf} from "./past_names.js";

const LEAST_DRAWN_PX = 12, MOST_LOOKED_AT = 2000;

const says = (e, part) => !/^(none|normal)$/.test(getComputedStyle(e, part).content);
// The height of an inline box is that of what is in it; any other box may be given one.
const drawsMore = e => {
  const {width, height} = boxOfElement(e), of = getComputedStyle(e);
  if (width < LEAST_DRAWN_PX || height < LEAST_DRAWN_PX || shadowOf(e)) return false;
  const isAuto = of.display === 'inline' || String(e.computedStyleMap().get('height')) === 'auto';
  const inner = height - ['paddingTop', 'paddingBottom', 'borderTopWidth', 'borderBottomWidth'].reduce((sum, side) => sum + parseFloat(of[side]), 0);
  return isAuto && inner >= LEAST_DRAWN_PX && !says(e, '::before') && !says(e, '::after');
};
const countIn = (root, selector) => {
  const within = [...root.querySelectorAll('*')].map(shadowOf).filter(Boolean).map(shadow => [shadow.childElementCount, countIn(shadow, selector)]);
  const mayBeHosts = [...root.querySelectorAll(selector)].slice(0, MOST_LOOKED_AT).filter(drawsMore).length;
  return within.reduce(([parts, hosts], [own, [inner, more]]) => [parts + own + inner, hosts + more], [0, mayBeHosts]);
};

export default selector => countIn(document, selector);
