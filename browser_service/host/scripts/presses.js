// Calls the function of this name whenever a mouse button or a key goes down in the document. It runs in a world of its
// own, before the page's scripts, so that no page can call that function or keep an event from it.
export default (name, kinds) => {
  const tell = self[name];
  for (const kind of kinds)
    addEventListener(kind, event => { if (event.isTrusted) tell(kind); }, {capture: true, passive: true});
};
