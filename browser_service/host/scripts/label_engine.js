// Makes a selector engine that finds its root or, where the label of a button covers it, that label, which passes the click on.
const covers = (label, e) => {
  const {x, y, width, height} = e.getBoundingClientRect(), root = e.getRootNode();
  const over = root.elementFromPoint(x + width / 2, y + height / 2);
  return over ? !e.contains(over) && label.contains(over) : getComputedStyle(e).opacity === '0';
};

export default () => ({
  queryAll: root => {
    const label = root.matches?.('button') && root.closest('label');
    return [label && label.control === root && covers(label, root) ? label : root];
  },
});
