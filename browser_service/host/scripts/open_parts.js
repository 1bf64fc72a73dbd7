// Returns how many elements lie directly in open shadow roots, how many elements have nothing of their own and are drawn as
// high as words, so that a closed root may have these, and when the document began.
import {boxOfElement, shadowOf} from "./past_names.js";

const MAY_BE_HOST = ':empty:not(a, area, b, br, button, canvas, col, embed, hr, i, iframe, img, input, label, li, link, meta, '
  + 'object, option, script, select, source, style, svg *, svg, td, textarea, th, track, ul, video, wbr)';
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
const countIn = root => {
  const within = [...root.querySelectorAll('*')].map(shadowOf).filter(Boolean).map(shadow => [shadow.childElementCount, countIn(shadow)]);
  const mayBeHosts = [...root.querySelectorAll(MAY_BE_HOST)].slice(0, MOST_LOOKED_AT).filter(drawsMore).length;
  return within.reduce(([parts, hosts], [own, [inner, more]]) => [parts + own + inner, hosts + more], [0, mayBeHosts]);
};

export default () => [...countIn(document), performance.timeOrigin];
