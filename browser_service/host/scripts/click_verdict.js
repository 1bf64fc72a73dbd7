// Asks the listeners of click_witness what they saw of the click on an element, and returns that.
export default (found, name) => {
  const asked = new CustomEvent(name, {detail: {found}});
  dispatchEvent(asked);
  return asked.detail.verdict ?? {};
};
