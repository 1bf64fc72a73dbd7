// Tells a page that listens for keys alone that a text was entered, as a phone's keyboard does, which names no key.
export const keyReleased = e =>
  e.dispatchEvent(new KeyboardEvent('keyup', {key: 'Unidentified', bubbles: true, composed: true}));

export default keyReleased;
