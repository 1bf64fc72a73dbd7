// Returns when a frame's document began, and what was typed in it as a password.
export default e => {
  const within = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [...own(e.shadowRoot)] : []);
  const own = root => [...root.querySelectorAll('input[type=password]'), ...within(root)];
  return [performance.timeOrigin, own(e.ownerDocument).map(e => e.value)];
};
