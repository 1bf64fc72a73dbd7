// Returns the labels of a field. For each field by itself, the browser would search the whole document.
const labelsByRoot = new Map();
const labelsIn = root => {
  const labels = new Map();
  for (const label of root.querySelectorAll('label')) {
    const {control} = label;
    if (control) labels.set(control, [...labels.get(control) ?? [], label]);
  }
  return labels;
};
export const labelsOf = e => {
  const root = e.getRootNode();
  if (!labelsByRoot.has(root)) labelsByRoot.set(root, labelsIn(root));
  return labelsByRoot.get(root).get(e) ?? [];
};
