// Drops the files of a field onto an element, as from outside of the browser. Returns whether the page took them.
import {control} from "./control.js";

export default ([e, field]) => {
  const data = new DataTransfer(), under = control(e), takesFiles = under.localName === 'input' && under.type === 'file';
  for (const file of field.files) data.items.add(file);
  if (takesFiles) {
    if (under.disabled || (data.items.length > 1 && !under.multiple)) return false;
    under.files = data.files;
    for (const type of ['input', 'change']) under.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
    return true;
  }
  const { left, top, width, height } = e.getBoundingClientRect(), where = { clientX: left + width / 2, clientY: top + height / 2 };
  const isTaken = type => !e.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, composed: true, dataTransfer: data, ...where }));
  isTaken('dragenter');
  const does = isTaken('dragover');
  isTaken(does ? 'drop' : 'dragleave');
  return does;
};
