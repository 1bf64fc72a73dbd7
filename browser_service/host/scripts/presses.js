// Calls the function of this name whenever a mouse button or a key goes down in the document, and when a button comes up
// whose way down was held back. It runs in a world of its own, before the page's scripts, so that no page can call that
// function or keep an event from it.
export default name => {
  const tell = self[name], how = {capture: true, passive: true};
  let down;
  addEventListener('keydown', event => { if (event.isTrusted) tell('keydown'); }, how);
  addEventListener('pointerdown', event => { if (event.isTrusted) { down = event; tell('pointerdown'); } }, how);
  addEventListener('pointerup', event => { if (event.isTrusted && down?.defaultPrevented) tell('held back'); }, how);
};
