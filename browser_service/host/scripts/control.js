// Returns the control that an element stands for: a label its field, the inside of a button the button.
export const control = e => {
  const own = 'a, input, textarea, button, select, [role=link], [role=button], [role=checkbox], [role=radio]';
  return e.isContentEditable ? e : e.closest(own) || e.closest('label')?.control || e;
};

export default control;
