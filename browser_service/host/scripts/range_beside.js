// Returns the value one step beside a range input's own, and the key that leads back from there.
export default e => {
  const copy = e.cloneNode();
  copy.value = e.value;
  copy.stepDown();
  if (copy.value !== e.value) return [copy.value, 'ArrowUp'];
  copy.stepUp();
  return [copy.value, 'ArrowDown'];
};
