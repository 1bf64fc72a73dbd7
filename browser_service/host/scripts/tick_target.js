// Returns what takes the click that ticks a box: its label if that covers it or stands for it, else the box itself.
import {formControl} from "./form_control.js";

export default e => {
  const box = formControl(e);
  const drawn = each => each.checkVisibility({visibilityProperty: true}) && each.getBoundingClientRect().width > 0;
  const label = [...box.labels || []].find(drawn);
  if (!label) return box;
  box.scrollIntoView({block: 'nearest'});
  const {x, y, width, height} = box.getBoundingClientRect();
  return drawn(box) && box.contains(box.getRootNode().elementFromPoint(x + width / 2, y + height / 2)) ? box : label;
};
