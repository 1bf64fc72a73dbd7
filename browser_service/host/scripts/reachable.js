// Returns whether a server answers at all, to a request that needs no permission.
export default async ({url, timeout}) => {
  try {
    await fetch(url, {mode: 'no-cors', credentials: 'omit', method: 'HEAD', signal: AbortSignal.timeout(timeout)});
    return true;
  } catch { return false; }
};
