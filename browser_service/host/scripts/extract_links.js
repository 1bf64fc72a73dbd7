// Returns the links in an element, with text, URL and other attributes.
import {line, textOf, absolute, shown, within} from "./document_parts.js";
import {asSeen, unseenElement} from "./seen.js";

export default asSeen((root, {site, unique}) => {
  const known = new Set();
  return within(root, 'a, area').flatMap(a => {
    const raw = typeof a.href === 'string' ? a.getAttribute('href') : a.href?.baseVal;
    if (raw == null) return [];
    const url = absolute(raw) ?? raw;
    const same = URL.canParse(url) && new URL(url).origin === location.origin;
    if (site !== 'any' && same !== (site === 'same')) return [];
    if (unique && known.has(url)) return [];
    known.add(url);
    const pictured = [...a.querySelectorAll('img[alt]')].map(i => i.alt).join(' ');
    const own = line(textOf(a, true)), why = !own && shown(a) ? unseenElement(a) : '';
    const gone = why && why !== 'small';
    const text = own || (gone ? '' : a.getAttribute('aria-label') || line(pictured) || a.title || a.alt || '');
    const more = {title: gone ? '' : a.title, rel: a.rel, target: typeof a.target === 'string' ? a.target : ''};
    return [{
      text, url, ...Object.fromEntries(Object.entries(more).filter(([_, value]) => value)),
      ...(!shown(a) && a.localName !== 'area' && {hidden: true}),
    }];
  });
});
