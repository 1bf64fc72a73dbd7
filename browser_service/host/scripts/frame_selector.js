// Returns a selector that finds a frame in its document, or null, with its title and whether it is visible.
export default e => {
  const named = [e.id && '#' + CSS.escape(e.id), e.name && `${e.localName}[name=${JSON.stringify(e.name)}]`];
  const only = css => css && e.getRootNode() === document && document.querySelectorAll(css).length === 1;
  return {selector: named.find(only) ?? null, title: e.title, visible: e.checkVisibility({visibilityProperty: true})};
};
