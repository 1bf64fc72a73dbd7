// A shared worker: one event stream for all pages of the house in a browser, which opens only six connections to a site.

const pages = new Set();
let latest = {};
let events = null;

function tell(news) {
  latest = { ...latest, ...news };
  for (const page of pages) page.postMessage(news);
}

function connect() {
  events = new EventSource("/events");
  events.onopen = () => tell({ live: true, refused: false });
  events.onmessage = (event) => tell({ view: JSON.parse(event.data) });
  // The browser tries again by itself, unless the answer was a refusal: then the login is gone.
  events.onerror = () => tell({ live: false, refused: events.readyState === EventSource.CLOSED });
}

onconnect = ({ ports: [page] }) => {
  pages.add(page);
  if (events === null || events.readyState === EventSource.CLOSED) connect();
  else page.postMessage(latest);
};
