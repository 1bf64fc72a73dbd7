// Returns what a document is, if not HTML with a body, and what it shows that no accessibility tree describes: the
// number of canvases, the addresses of embedded documents, and the names of elements that seem to draw a closed shadow
// tree.
import {shadowOf} from "./past_names.js";

const LEAST_DRAWN_PX = 12, MOST_CLOSED = 3;
const drawsItself = e => {
  const {width, height} = e.getBoundingClientRect();
  if (shadowOf(e) || width < LEAST_DRAWN_PX || height < LEAST_DRAWN_PX || !e.checkVisibility({visibilityProperty: true})) return false;
  const looks = [null, '::before', '::after'].map(part => getComputedStyle(e, part));
  return e.innerText.trim() === '' && ![...e.querySelectorAll('*')].some(inner => inner.getClientRects().length)
    && looks[0].backgroundImage === 'none' && looks.slice(1).every(({content}) => /^(none|normal)$/.test(content));
};
const LEAST_SHOWN_PX = 50, MOST_EMBEDDED = 50, MOST_NAMED_URLS = 3, MOST_OF_ADDRESS = 2000;

export const beyondTree = document => {
  const isSeen = e => {
    const {width, height} = e.getBoundingClientRect();
    return width >= LEAST_SHOWN_PX && height >= LEAST_SHOWN_PX && e.checkVisibility({visibilityProperty: true});
  };
  const shown = found => [...found].slice(0, MOST_EMBEDDED).filter(isSeen);
  const addresses = shown(document.querySelectorAll('object[data], embed[src]')).map(e => String(e.data || e.src));
  const own = [...document.querySelectorAll('*')].filter(e => e.localName.includes('-')).slice(0, MOST_EMBEDDED);
  return {
    pdf: document.contentType === 'application/pdf', bodiless: !document.querySelector('body'),
    canvases: shown(document.getElementsByTagName('canvas')).length,
    embedded: addresses.filter(url => /^https?:/.test(url) && url.length < MOST_OF_ADDRESS).slice(0, MOST_NAMED_URLS),
    closed: [...new Set(own.filter(drawsItself).map(e => e.localName))].slice(0, MOST_CLOSED),
  };
};

export default beyondTree;
