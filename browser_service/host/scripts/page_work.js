// Returns the numbers of the next timer, frame and idle turn that a script asks for. The browser counts them, so that
// they tell whether scripts of the page have asked for one in between.
export const nextNumbers = () => {
  const timer = setTimeout(String), frame = requestAnimationFrame(String), idle = requestIdleCallback(String);
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  cancelIdleCallback(idle);
  return [timer, frame, idle];
};

export default nextNumbers;
