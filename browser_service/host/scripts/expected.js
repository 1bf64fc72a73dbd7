// Returns how many elements were found, and the state of the one that a check is about: the first visible, else the first.
import {cut} from "./cut.js";
import {formControl} from "./form_control.js";
import {isSecret, textOfField} from "./secret_field.js";
import {asSeen} from "./seen.js";
import {seenText} from "./seen_text.js";

const isVisible = e => {
  const {width, height} = e.getBoundingClientRect();
  return width > 0 && height > 0 && e.checkVisibility({visibilityProperty: true});
};
const state = (e, most) => {
  const c = formControl(e), secret = isSecret(c);
  return {
    visible: isVisible(e),
    enabled: !c.matches(':disabled') && !c.closest('[aria-disabled=true]'),
    checked: (c.matches('[type=checkbox], [type=radio]') ? c.checked : {true: true, false: false}[c.ariaChecked]) ?? null,
    secret,
    value: secret || !('value' in c || c.isContentEditable) ? null : cut(textOfField(c), most),
    text: cut((seenText(e, true) ?? '').replace(/\s+/g, ' ').trim(), most),
  };
};

export default asSeen((found, most) => {
  const first = found.find(isVisible) ?? found[0];
  return {count: found.length, element: first ? state(first, most) : null};
});
