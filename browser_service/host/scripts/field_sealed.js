// Makes a field's secret indivisible: an edit begins with an empty field, and nothing can be copied or dragged out of
// it, so that no part of the secret is left alone. Returns nothing.
import {emptied} from "./field_emptied.js";

export default e => {
  const end = new AbortController(), by = {capture: true, signal: end.signal};
  const edit = event => {
    const isEnter = event.inputType === 'insertLineBreak', keeps = e.localName === 'input' || e.selectionStart === e.value?.length;
    if (!event.isTrusted || isEnter && keeps) return;
    end.abort();
    emptied(e);
  };
  for (const kind of ['beforeinput', 'input']) e.addEventListener(kind, edit, by);
  for (const kind of ['copy', 'cut', 'dragstart']) e.addEventListener(kind, event => event.preventDefault(), by);
};
