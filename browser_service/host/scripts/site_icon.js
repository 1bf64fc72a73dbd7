// Returns the address of the document's icon. Given that, returns the icon as a small PNG in base64. Both are "" if there
// is none. It is drawn here, so that what viewers get is of one kind and size, whatever a site sends. No timer is used:
// an act would take it for the page's own.
const MOST_BYTES = 32768, MOST_MS = 4000, SIDE = 40;

const address = () => {
  const links = [...document.querySelectorAll('link[rel~=icon i][href]')];
  const link = links.find(e => !/svg\b/i.test(e.type + ' ' + e.href.slice(0, 200)));  // which cannot be drawn from bytes
  const url = link ? link.href : links.length ? '' : new URL('/favicon.ico', location.href).href;
  return url.length > MOST_BYTES ? '' : url;
};

const received = async url => {
  if (url.startsWith('data:')) return [Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), sign => sign.charCodeAt(0))];
  const answer = await fetch(url, {redirect: 'error', priority: 'low', signal: AbortSignal.timeout(MOST_MS)}), parts = [];
  let size = 0;
  for await (const part of answer.ok ? answer.body : []) {
    if ((size += part.length) > MOST_BYTES) return [];  // the rest is not loaded
    parts.push(part);
  }
  return parts;
};

const drawing = async parts => {
  if (!parts.length) return '';
  const drawn = await createImageBitmap(new Blob(parts), {resizeWidth: SIDE, resizeHeight: SIDE, resizeQuality: 'high'});
  const canvas = new OffscreenCanvas(SIDE, SIDE);
  canvas.getContext('2d').drawImage(drawn, 0, 0);
  return btoa(String.fromCharCode(...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())));
};

export default async url => url ? received(url).then(drawing).catch(() => '') : address();
