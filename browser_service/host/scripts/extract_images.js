// Returns the images in an element, and on request those that its style sheets draw.
import {cut} from "./cut.js";
import {absolute, shown, within} from "./document_parts.js";
import {asSeen, reading, unseenElement} from "./seen.js";

export default asSeen((root, {backgrounds}) => {
  const inline = url => url.startsWith('data:') && url.length > 200;
  const short = url => inline(url) ? `${cut(url, 60)}… (${url.length} characters)` : url;
  const found = within(root, 'img, input[type=image], svg image').flatMap(e => {
    const raw = e.currentSrc || e.getAttribute('src') || e.href?.baseVal;
    if (!raw) return [];
    const box = e.getBoundingClientRect();
    return [{
      url: short(absolute(raw) ?? raw), alt: e.alt && !['', 'small', 'hidden'].includes(unseenElement(e)) ? (reading.unseen++, '') : e.getAttribute('alt'),
      ...(e.naturalWidth !== undefined && {width: e.naturalWidth, height: e.naturalHeight}),
      shownWidth: Math.round(box.width), shownHeight: Math.round(box.height),
      ...(e.complete !== undefined && {loaded: e.complete && e.naturalWidth > 0}),
      ...(!shown(e) && {hidden: true}),
    }];
  });
  if (!backgrounds) return found;
  for (const e of [root, ...within(root, '*')]) {
    for (const [_, quoted] of getComputedStyle(e).backgroundImage.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)) {
      const box = e.getBoundingClientRect();
      found.push({
        url: short(quoted.replace(/\\(.)/g, '$1')), background: true,
        shownWidth: Math.round(box.width), shownHeight: Math.round(box.height), ...(!shown(e) && {hidden: true}),
      });
    }
  }
  return found;
});
