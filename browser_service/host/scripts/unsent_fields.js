// Returns whether a field has something that its document did not come with.
export default fields => fields.some(field =>
  field.matches("input[type=checkbox], input[type=radio]") ? field.checked !== field.defaultChecked
  : field.matches("input[type=file]") ? field.files.length > 0
  : field.matches("input, textarea") ? field.value !== field.defaultValue
  : field.matches("select") ? [...field.options].some(one => one.defaultSelected) === true
    ? [...field.options].some(one => one.selected !== one.defaultSelected) : field.selectedIndex > 0
  : field.isContentEditable && field.innerText.trim() !== "");
