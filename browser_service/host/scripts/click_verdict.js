// Asks the listeners of click_witness for their verdict on the click, and returns it.
export default (found, name) => {
  const asked = new CustomEvent(name, {detail: {found}});
  dispatchEvent(asked);
  return asked.detail.verdict ?? {};
};
