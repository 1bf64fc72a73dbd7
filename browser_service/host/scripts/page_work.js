// Returns the numbers of the next timer, frame and idle callback. The browser counts them, so they show whether the
// page's scripts asked for one in between.
export const nextNumbers = () => {
  const timer = setTimeout(String), frame = requestAnimationFrame(String), idle = requestIdleCallback(String);
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  cancelIdleCallback(idle);
  return [timer, frame, idle];
};

export default nextNumbers;
