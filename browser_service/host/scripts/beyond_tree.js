// Returns what a document is, if not HTML with a body, and what it shows that no accessibility tree describes: the
// number of canvases, and the addresses of embedded documents.
const LEAST_SHOWN_PX = 50, MOST_EMBEDDED = 50, MOST_NAMED_URLS = 3, MOST_OF_ADDRESS = 2000;

export const beyondTree = document => {
  const isSeen = e => {
    const {width, height} = e.getBoundingClientRect();
    return width >= LEAST_SHOWN_PX && height >= LEAST_SHOWN_PX && e.checkVisibility({visibilityProperty: true});
  };
  const shown = found => [...found].slice(0, MOST_EMBEDDED).filter(isSeen);
  const addresses = shown(document.querySelectorAll('object[data], embed[src]')).map(e => String(e.data || e.src));
  return {
    pdf: document.contentType === 'application/pdf', bodiless: !document.querySelector('body'),
    canvases: shown(document.getElementsByTagName('canvas')).length,
    embedded: addresses.filter(url => /^https?:/.test(url) && url.length < MOST_OF_ADDRESS).slice(0, MOST_NAMED_URLS),
  };
};

export default beyondTree;
