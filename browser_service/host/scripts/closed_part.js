// Returns, for what lies directly in a closed shadow root and can be seen, the host's name and where the middle of it is
// in its document; else null.
const LEAST_DRAWN_PX = 12, MOST_OF_NAME = 40;

export default e => {
  const root = e.getRootNode(), {host} = root, {x, y, width, height} = e.getBoundingClientRect();
  if (root.mode !== 'closed' || width < LEAST_DRAWN_PX || height < LEAST_DRAWN_PX) return null;
  if (!e.checkVisibility({visibilityProperty: true}) || host.matches('[popover][aria-hidden=true]')) return null;
  const own = `${host.localName}${host.id && '#'}${host.id}`.replace(/[^\w#-]/g, '_');
  return [own.slice(0, MOST_OF_NAME), x + width / 2, y + height / 2];
};
