// Returns the name of the host of a closed shadow root, and where the middle of a part of it is in its document, for what
// lies directly in such a root, or for a root that has text alone, if it can be seen; else null.
const LEAST_DRAWN_PX = 12, MOST_OF_NAME = 40;

const boxOf = root => {
  const range = document.createRange();
  range.selectNodeContents(root);
  return range.getBoundingClientRect();
};

export default e => {
  const root = e.getRootNode(), {host} = root, {x, y, width, height} = e === root ? boxOf(root) : e.getBoundingClientRect();
  if (root.mode !== 'closed' || width < LEAST_DRAWN_PX || height < LEAST_DRAWN_PX) return null;
  const seen = e === root ? host : e;
  if (!seen.checkVisibility({visibilityProperty: true}) || host.matches('[popover][aria-hidden=true]')) return null;
  const own = `${host.localName}${host.id && '#'}${host.id}`.replace(/[^\w#-]/g, '_');
  return [own.slice(0, MOST_OF_NAME), x + width / 2, y + height / 2];
};
