// Sends a request from the page with its cookies, and returns the answer with its whole body, or why there is none.
export const answered = async ({url, init, binary, timeout}) => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeout);
  try {
    const response = await fetch(url, {...init, signal: stop.signal});
    const found = {
      status: response.status, statusText: response.statusText, url: response.url, type: response.type,
      redirected: response.redirected, headers: Object.fromEntries(response.headers), timedOut: false,
    };
    const whole = body => ({...found, body, size: body.length});
    if (!binary || !response.ok) return whole(await response.text());
    const blob = await response.blob();
    const data = await new Promise((done, fail) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => fail(reader.error);
      reader.readAsDataURL(blob);
    });
    return whole(data.slice(data.indexOf(',') + 1));
  } catch (error) {
    return {error: String(error.message || error), timedOut: stop.signal.aborted};
  } finally {
    clearTimeout(timer);
  }
};

export default answered;
