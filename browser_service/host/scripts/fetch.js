// Sends a request from the page, with its cookies, and returns the answer with its whole body, or why there is none. A
// text is decoded by its byte order mark, else by the charset of its type or of an HTML document's head, else as UTF-8.
const MARKS = [['utf-8', 0xef, 0xbb, 0xbf], ['utf-16le', 0xff, 0xfe], ['utf-16be', 0xfe, 0xff]], MOST_HEAD = 1024;
const IN_TYPE = /;\s*charset\s*=\s*["']?([^"';\s]+)/i, IN_HEAD = /<meta[^>]+charset\s*=\s*["']?([^"'\s/>]+)/i;

const decoded = (data, type) => {
  const bytes = new Uint8Array(data), begins = mark => mark.every((byte, n) => bytes[n] === byte);
  const [marked] = MARKS.find(([, ...mark]) => begins(mark)) ?? [];
  const head = () => /html/i.test(type) ? new TextDecoder('latin1').decode(bytes.subarray(0, MOST_HEAD)) : '';
  const charset = marked ?? IN_TYPE.exec(type)?.[1] ?? IN_HEAD.exec(head())?.[1] ?? 'utf-8';
  try {
    return {body: new TextDecoder(charset).decode(bytes)};
  } catch {
    return {body: new TextDecoder().decode(bytes), unknownCharset: charset.slice(0, 40)};
  }
};

export const answered = async ({url, init, binary, timeout}) => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeout);
  try {
    const response = await fetch(url, {...init, signal: stop.signal});
    const found = {
      status: response.status, statusText: response.statusText, url: response.url, type: response.type,
      redirected: response.redirected, headers: Object.fromEntries(response.headers), timedOut: false,
    };
    const type = response.headers.get('content-type') ?? '';
    const whole = ({body, ...more}) => ({...found, ...more, body, size: body.length});
    const asBytes = response.ok && (binary || /^application\/pdf\b/i.test(type));
    if (!asBytes) return whole(decoded(await response.arrayBuffer(), type));
    const blob = await response.blob();
    const data = await new Promise((done, fail) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => fail(reader.error);
      reader.readAsDataURL(blob);
    });
    return whole({body: data.slice(data.indexOf(',') + 1), asBytes});
  } catch (error) {
    return {error: String(error.message || error), timedOut: stop.signal.aborted};
  } finally {
    clearTimeout(timer);
  }
};

export default answered;
