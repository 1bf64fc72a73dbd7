// Returns a field, in no document, by which files reach a script of ours without passing through it as text.
export default () => {
  const field = document.createElement('input');
  field.type = 'file';
  field.multiple = true;
  return field;
};
