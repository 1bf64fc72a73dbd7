// Returns what elements are and show, up to a limit, and how many there are.
import {cut} from "./cut.js";
import {plainValue} from "./secret_field.js";
import {asSeen} from "./seen.js";
import {seenText} from "./seen_text.js";

export default asSeen((found, [most, attributes]) => ({count: found.length, elements: found.slice(0, most).map(e => {
  const box = e.getBoundingClientRect(), round = number => Math.round(number * 10) / 10;
  const said = e.matches('input, textarea') ? plainValue(e) : seenText(e, true);
  const checked = e.checked ?? {true: true, false: false}[e.ariaChecked];
  const visible = box.width > 0 && box.height > 0 && e.checkVisibility({visibilityProperty: true});
  return {
    tag: e.localName, text: cut((said ?? '').trim().replace(/\s+/g, ' '), 200), visible,
    enabled: !e.matches(':disabled') && !e.closest('[aria-disabled=true]'),
    ...(checked !== undefined && e.matches('[type=checkbox], [type=radio], [aria-checked]') && {checked}),
    box: visible ? {x: round(box.x), y: round(box.y), width: round(box.width), height: round(box.height)} : null,
    ...(attributes && {
      attributes: Object.fromEntries([...e.attributes].slice(0, 50).map(a => [a.name, cut(a.value, 500)])),
    }),
  };
})}));
