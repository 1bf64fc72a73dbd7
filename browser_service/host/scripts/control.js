// Returns the control that an element stands for: a label's field, or the button around an element.
export const CONTROLS = 'a, input, textarea, button, select, [role=link], [role=button], [role=checkbox], [role=radio]';

export const control = e => e.isContentEditable ? e : e.closest(CONTROLS) || e.closest('label')?.control || e;

export default control;
