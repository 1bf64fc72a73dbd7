// Fills fields one after another as Playwright does, in a single turn of the page, and returns how many it filled. It
// stops at the first that must be waited for or explained, or that is in another document, whose focus and selection
// are separate.
import {formControl} from "./form_control.js";
import {keyReleased} from "./key_released.js";

export default (found, wanted) => {
  const picked = ['color', 'date', 'time', 'datetime-local', 'month', 'range', 'week'];
  const tell = e => ['input', 'change']
    .forEach(kind => e.dispatchEvent(new Event(kind, {bubbles: true, composed: true})));
  const ready = e => e.ownerDocument === document && e.isConnected && !e.matches(':disabled') && !e.readOnly
    && e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 0;
  const choose = (e, names) => {
    const options = names.map(name => [...e.options].find(o => o.value === name || o.label === name));
    if (options.some(o => !o || o.disabled) || (options.length > 1 && !e.multiple)) return false;
    e.focus();
    for (const o of e.options) o.selected = options.includes(o);
    tell(e);
    return true;
  };
  const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const write = (e, text) => {
    if (!e.matches('input, textarea') || (e.type === 'number' && isNaN(Number(text)))) return false;
    e.focus();
    if (e.getRootNode().activeElement !== e) return false;
    if (picked.includes(e.type)) {
      setValue.call(e, text);  // an assignment would be noticed by React, which then ignores the event
      if (e.value === text) tell(e);
      return e.value === text;
    }
    e.select();
    const written = document.execCommand(text ? 'insertText' : 'delete', false, text) || e.value === text;
    if (written) keyReleased(e);
    return written;
  };
  for (const [number, e] of found.map(formControl).entries()) {
    const set = e.matches('select') ? choose : write;
    if (!ready(e) || !set(e, wanted[number])) return number;
  }
  return found.length;
};
