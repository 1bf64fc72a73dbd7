// Returns the control that an element stands for: a label's field, or the button around an element.
export const control = e => {
  const own = 'a, input, textarea, button, select, [role=link], [role=button], [role=checkbox], [role=radio]';
  return e.isContentEditable ? e : e.closest(own) || e.closest('label')?.control || e;
};

export default control;
