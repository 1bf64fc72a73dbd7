// Returns whether the page takes no acts on an element, because it is marked so or behind a modal dialog.
export const isInert = e => !!e.closest('[inert]')
  || [...document.querySelectorAll('dialog:modal')].some(dialog => !dialog.contains(e));

export default isInert;
