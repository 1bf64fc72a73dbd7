// Returns the width and height of a document, its scroll position, and the size of the viewport.
export default () => {
  const {body, documentElement: root} = document;
  const most = name => Math.max(...[body, root].filter(Boolean).flatMap(e => [e['scroll' + name], e['offset' + name]]));
  return [most('Width'), most('Height'), scrollX, scrollY, innerWidth, innerHeight].map(Number);
};
