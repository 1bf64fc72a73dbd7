// Empties a field as a person would, so that the page's scripts notice; returns nothing.
export const emptied = e => {
  if (!(e.value ?? e.textContent)) return;
  const value = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value');
  if (value?.set) value.set.call(e, '');
  else e.textContent = '';
  e.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
};

export default emptied;
