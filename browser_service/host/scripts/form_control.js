// Returns the field or button that an element of a form stands for.
export const formControl = e => {
  const own = 'input, textarea, select, button, [role=checkbox], [role=radio], [role=switch], [role=slider], [role=combobox], [contenteditable]';
  return e.matches(own) ? e : e.control || e.closest(own) || e.closest('label')?.control || e;
};
