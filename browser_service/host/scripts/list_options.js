// Returns a drop-down list's options, as far as there is room for their texts, and which one is chosen. It also focuses
// the list, as pressing it would.
const MOST = 500, MOST_CHARACTERS = 8000, MOST_EACH = 80;

export default list => {
  list.focus();
  const options = [];
  let room = MOST_CHARACTERS;
  for (const option of list.options) {
    const text = String(option.label).trim().slice(0, MOST_EACH);
    room -= text.length + 20;
    if (room < 0 || options.length === MOST) break;
    options.push({text, disabled: option.matches(":disabled") || option.hidden});
  }
  return {options, chosen: list.selectedIndex, more: list.options.length - options.length};
};
