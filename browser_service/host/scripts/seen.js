// Tells which texts of a document a person sees, and reads elements without the others.
//
// A text is unseen if dots stand for it, if it is drawn without opacity, smaller than two pixels, clipped, where nobody
// can scroll to, or in the colour behind it; or if the browser draws none of it. Labels of visible controls are kept, and
// so is what the page fades in by itself, now or when it is scrolled to. On a page with more texts than the limit, the
// others count as seen.
import {bodyOf, documentOf, heightIn, isScrolled, parentElement, parentOf, rootOf, widthIn, windowOf} from "./past_names.js";
import {boxOfElement, closest, firstIn, matches} from "./past_names.js";
import {drawsDots} from "./secret_field.js";

export const MOST_TEXTS = 20000;
const LABEL_CHARACTERS = 120, LEAST_OPACITY = 0.1, LEAST_PX = 2, NEAR_COLOURS = 24;
const CONTROLS = 'button, a[href], label, legend, summary, [role=button], [role=link], [role=tab], [role=switch], '
  + '[role=menuitem], [role=menuitemcheckbox], [role=menuitemradio], [role=option], [role=checkbox], [role=radio]';
export const UNDRAWN = 'script, style, template, noscript, head, option, optgroup, textarea, title';
// Returns whether an element around a text draws no texts, or not as texts.
export const inUndrawn = text => {
  const e = parentElement(text);
  return !!e && !!closest(e, UNDRAWN);
};
export const reading = {judged: false, unseen: 0};
const places = new Map(), views = new Map(), range = document.createRange();
let backdrops = 200;

const colours = new Map();
const rgb = text => {
  let colour = colours.get(text);
  if (colour === undefined) {
    const parts = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    colour = parts && {r: +parts[1], g: +parts[2], b: +parts[3], alpha: parts[4] === undefined ? 1 : +parts[4]};
    colours.set(text, colour);
  }
  return colour;
};
const paints = style => style.backgroundImage !== 'none' || (rgb(style.backgroundColor)?.alpha ?? 1) > 0.1;
const cutByPath = (e, path) => {
  if (!path.includes('px')) return /inset\((?:[5-9]\d|100)%|circle\(0/.test(path);
  const px = /^inset\((?:[\d.]+px ?){1,4}\)$/.test(path) && path.match(/[\d.]+(?=px)/g).map(Number);
  if (!px) return false;
  const box = boxOfElement(e), [top, right = top, bottom = top, left = right] = px;
  return top + bottom >= box.height - 1 || left + right >= box.width - 1;
};
const cutByClip = text => {
  const [_, top, right, bottom, left] = /^rect\(([\d.]+)px, ([\d.]+)px, ([\d.]+)px, ([\d.]+)px\)$/.exec(text) ?? [];
  return _ && (bottom - top <= 1 || right - left <= 1);
};
// What takes longer to appear, or waits where a person is looking, is judged as it is now.
const MOST_FADING_MS = 10000, NEAR_END = 0.75;
const raises = animation => {
  const {effect, playState, timeline} = animation;
  if (playState !== 'running' || timeline !== document.timeline) return false;
  const {duration, endTime} = effect.getComputedTiming(), frames = effect.getKeyframes();
  const seen = ({opacity}) => opacity >= LEAST_OPACITY;
  if (duration > MOST_FADING_MS) return false;
  return endTime === Infinity ? frames.some(seen) : endTime <= MOST_FADING_MS && frames.length > 0 && seen(frames.at(-1));
};
const isAway = (e, box) => box.top > viewOf(documentOf(e)).window.innerHeight * NEAR_END || box.bottom <= 0;
const awaitsScrolling = (style, box, animations) => {
  if (box.height < LEAST_PX || !/^(static|relative)$/.test(style.position)) return false;
  return [style.transform, style.translate, style.scale].some(moved => moved !== 'none') || animations.length > 0
    || /opacity|all/.test(style.transitionProperty) && /[1-9]/.test(style.transitionDuration);
};
// Opacity and time of the first look at transparent elements: frameworks start to fade them in some frames after they
// insert them, by scripts too.
const FIRST = Symbol.for('opacity at the first look'), MOST_FRAMES = 4, MOST_FRAMES_MS = 250;
const fresh = new Set();
const fadesIn = (e, animations, opacity) => {
  const first = documentOf(e)[FIRST]?.get(e), passed = first && performance.now() - first.time;
  return animations.some(raises) || first && (opacity - first.opacity) * MOST_FADING_MS > LEAST_OPACITY * passed;
};
// A box without height or width that slides open is as large as it will be.
const SIZES = /height|width|blockSize|inlineSize/i, SLIDES = /height|width|size|all/;
const grows = ({playState, effect}) => playState === 'running'
  && Object.entries(effect.getKeyframes().at(-1) ?? {}).some(([name, size]) => SIZES.test(name) && parseFloat(size) >= LEAST_PX);
const slidesOpen = e => e.getAnimations().some(grows);
const opacityOf = (e, style) => {
  if (style.opacity >= LEAST_OPACITY) return style.opacity;
  const animations = e.getAnimations(), box = boxOfElement(e), away = isAway(e, box);
  if (fadesIn(e, animations, style.opacity) || away && awaitsScrolling(style, box, animations)) return 1;
  const first = documentOf(e)[FIRST] ??= new WeakMap();
  if (!away && !first.has(e)) fresh.add(e);
  if (!first.has(e)) first.set(e, {opacity: style.opacity, time: performance.now()});
  return style.opacity;
};
// Waits some frames, and returns whether any fresh element begins to appear, so that everything must be judged again.
export const appears = async () => {
  const until = performance.now() + MOST_FRAMES_MS;
  const begins = () => [...fresh].some(e => slidesOpen(e) || fadesIn(e, e.getAnimations(), getComputedStyle(e).opacity));
  for (let frame = 0; fresh.size && frame < MOST_FRAMES && performance.now() < until; frame++) {
    await new Promise(then => { requestAnimationFrame(then); setTimeout(then, MOST_FRAMES_MS); });
    if (begins()) {
      places.clear();
      return true;
    }
  }
  return false;
};
// What a shadow tree's slot does not draw, as in a closed menu, is hidden by none of its own ancestors.
const slottedAway = (e, {display}) => display === 'none' && (e.localName === 'slot' || !!firstIn(e, 'slot'));
const judge = (e, outer) => {
  const style = getComputedStyle(e), {position, overflowX, clipPath} = style, skips = outer.skips || style.contentVisibility === 'hidden' || slottedAway(e, style);
  const out = position === 'absolute' || position === 'fixed';
  let cut = out && outer.cut === 'flow' ? '' : outer.cut, scrolled = outer.scrolled, behind = outer.behind, slides = outer.slides;
  if (clipPath !== 'none' && cutByPath(e, clipPath)) cut = 'any';
  if (out && style.clip !== 'auto' && cutByClip(style.clip)) cut = 'any';
  if (overflowX !== 'visible') {
    const small = (widthIn(e) < LEAST_PX || heightIn(e) < LEAST_PX) && !slidesOpen(e);
    if (small && SLIDES.test(style.transitionProperty) && /[1-9]/.test(style.transitionDuration)) slides = e;
    if (small && !/inline$|contents/.test(style.display)) cut = position === 'static' ? cut || 'flow' : 'any';
    scrolled ||= overflowX !== 'hidden' && overflowX !== 'clip' && isScrolled(e);
  }
  if (style.backgroundImage !== 'none') behind = null;
  else {
    const colour = rgb(style.backgroundColor);
    if (!colour || colour.alpha > 0.1) behind = colour?.alpha >= 0.9 ? colour : null;
  }
  return {style, opacity: outer.opacity * opacityOf(e, style), cut, scrolled, behind, skips, slides};
};
const canvas = /dark/.test(getComputedStyle(rootOf(document)).colorScheme) ? null
  : {r: 255, g: 255, b: 255, alpha: 1};
export const placeOf = e => {
  const path = [];
  for (; e && !places.has(e); e = parentOf(e)) path.push(e);
  let place = e ? places.get(e) : {opacity: 1, cut: '', scrolled: false, behind: canvas};
  while (path.length) places.set(path.at(-1), place = judge(path.pop(), place));
  return place;
};
// A frame's element lies in another document than the frame's content, which may be scrolled differently.
const viewOf = document => {
  if (!views.has(document)) {
    const root = rootOf(document), window = windowOf(document), rtl = getComputedStyle(root).direction === 'rtl';
    const bounded = rtl || [root, bodyOf(document)].some(e => e && /hidden|clip/.test(getComputedStyle(e).overflowX));
    views.set(document, {window, rtl, bounded, rightEnd: Math.max(widthIn(root), window.innerWidth)});
  }
  return views.get(document);
};
const outside = (e, box, place) => {
  if (place.scrolled) return false;
  const {window: {scrollX, scrollY}, rtl, bounded, rightEnd} = viewOf(documentOf(e));
  return box.bottom + scrollY <= 0 || (!rtl && box.right + scrollX <= 0)
    || (bounded && box.left + scrollX >= rightEnd);
};
const coversBehind = (e, box) => {
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const under = other => {
    const own = boxOfElement(other);
    return own.left <= x && x <= own.right && own.top <= y && y <= own.bottom
      && (matches(other, 'img, picture, video, canvas, svg, iframe, object') || paints(getComputedStyle(other))
        || !!firstIn(other, 'img, picture, video, canvas'));
  };
  for (let level = 0; e && level < 8; level++, e = parentOf(e)) {
    for (const pseudo of ['::before', '::after']) {
      const style = getComputedStyle(e, pseudo);
      if (style.content !== 'none' && style.content !== 'normal' && paints(style)) return true;
    }
    const siblings = [...(parentElement(e)?.children ?? [])].slice(0, 40);
    if (siblings.some(other => other !== e && under(other))) return true;
  }
  return false;
};
const faint = (e, place, box) => {
  const style = place.style, ink = rgb(style.webkitTextFillColor || style.color), back = place.behind;
  if (!ink) return false;
  const clear = ink.alpha < LEAST_OPACITY;
  const apart = back ? Math.abs(ink.r - back.r) + Math.abs(ink.g - back.g) + Math.abs(ink.b - back.b) : Infinity;
  if (!clear && apart > NEAR_COLOURS) return false;
  if (style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0) return false;
  for (let at = e, level = 0; at && level < 4; at = parentOf(at), level++) {
    if (placeOf(at).style.webkitBackgroundClip === 'text') return false;
  }
  return clear || (backdrops-- > 0 && !coversBehind(e, box));
};
// Returns why an element, or a text in it, is unseen in this box; '' if it is seen.
const fault = (e, box, isText) => {
  const place = placeOf(e);
  if (place.style.visibility !== 'visible') return 'hidden';
  if (place.opacity < LEAST_OPACITY) return 'faint';
  if (place.cut) return 'cut';
  if (box.height < LEAST_PX || box.width < 1 || (isText && parseFloat(place.style.fontSize) < LEAST_PX)) return 'small';
  if (outside(e, box, place)) return 'outside';
  if (isText && drawsDots(place.style) && !e.isContentEditable) return 'dots';
  return isText && faint(e, place, box) ? 'faint' : '';
};
const boxOf = text => (range.selectNodeContents(text), range.getBoundingClientRect());
// Returns whether the browser renders what a text is in, at all or, with `now`, without being scrolled to.
const rendered = (text, now) => {
  let e = parentOf(text);
  while (e && placeOf(e).style.display === 'contents') e = parentOf(e);
  const skips = e && placeOf(e).style.contentVisibility;
  return !e || skips !== 'hidden' && !(now && skips === 'auto') && e.checkVisibility({contentVisibilityAuto: now});
};
// Returns whether the browser skips a text that its element would show, as in `hidden=until-found`.
export const skipped = text => !!placeOf(parentOf(text)).skips;
export const drawn = text => {
  const box = boxOf(text);
  return !!(box.width || box.height || range.getClientRects().length) && rendered(text, false);
};
export const lacksInInnerText = text => !rendered(text, true) && drawn(text);
const seenControl = e => {
  const shown = e.localName === 'label' && e.control ? e.control : e.localName === 'legend' ? parentElement(e) : e;
  const box = boxOfElement(shown), why = fault(shown, box, false);
  return box.width > 4 && box.height > 4 && (!why || (why === 'faint' && shown.localName === 'input'));
};
// A control that is faint is worked all the same: so are those that show under the mouse.
const showsWhenUsed = e => {
  const box = boxOfElement(e);
  return !matches(e, 'label, legend') && box.width > 4 && box.height > 4 && fault(e, box, false) === 'faint';
};
const labels = (text, parent, why) => {
  if (text.data.trim().length > LABEL_CHARACTERS) return false;
  const control = closest(parent, CONTROLS);
  if (why === 'faint' && control && showsWhenUsed(control)) return true;
  if (!control || !seenControl(control)) return false;
  if (why === 'cut' || why === 'outside') return true;
  const walker = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
  for (let other, count = 0; (other = walker.nextNode()) && count < 50; count++) {
    if (other !== text && other.data.trim() && drawn(other) && !fault(parentElement(other), boxOf(other), true)) {
      return false;
    }
  }
  return true;
};
// Returns why a text is unseen, 'undrawn' if the browser draws nothing of it, and '' if it is seen.
export const unseen = text => {
  const parent = parentOf(text);
  if (!parent || !text.data.trim()) return '';
  if (!drawn(text)) return 'undrawn';
  const box = boxOf(text);
  const why = fault(parent, box, true), {slides} = placeOf(parent), first = documentOf(parent)[FIRST] ??= new WeakMap();
  if (why === 'cut' && slides && !first.has(parent)) {
    first.set(parent, {opacity: 1, time: performance.now()});
    fresh.add(slides);
  }
  return why && labels(text, parent, why) ? '' : why;
};
export const unseenElement = e => fault(e, boxOfElement(e), false);
export const texts = function* (root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text, count = 0; (text = walker.nextNode()) && count < MOST_TEXTS; count++) yield text;
};
export const blockOf = e => {
  while (parentOf(e) && /^(inline|contents|ruby)/.test(placeOf(e).style.display)) e = parentOf(e);
  return e;
};
// Returns whether what draws an element's texts keeps their blanks.
export const keepsBlanks = e => /^(pre|break-spaces)/.test(placeOf(e).style.whiteSpace);
export const marked = text => `⟦not seen on the page: ${text.replace(/\s+/g, ' ').trim()}⟧`;
// Turns a function into one that reads a text without what nobody sees, and returns the count of what it left out, a line break and
// the text.
export const seenPart = read => target => {
  reading.judged = true;
  const text = read(target);
  return `${reading.unseen}\n${text}`;
};
// Turns a function into one that reads without what nobody sees, and returns how much it left out.
export const asSeen = read => (target, given) => {
  reading.judged = true;
  const give = value => ({value, unseen: reading.unseen});
  const value = read(target, given);
  return value?.then ? value.then(give) : give(value);
};
