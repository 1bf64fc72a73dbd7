// Returns which of the given options a list does not have, with the labels of those that it has; waits `ms` milliseconds for
// them. Of what is no list, none is missing.
import {formControl} from "./form_control.js";

const LOOK_MS = 50;

export default async (e, [given, ms]) => {
  const list = formControl(e), flat = text => text.replace(/\s+/g, ' ').trim();
  if (!list.matches('select')) return {missing: [], options: []};
  const has = {
    value: text => [...list.options].some(o => o.value === text || flat(o.label) === flat(text)),
    label: text => [...list.options].some(o => flat(o.label) === flat(text)),
    index: number => number < list.options.length,
  };
  const missing = () => given.filter(([kind, wanted]) => !has[kind](wanted)).map(([, wanted]) => String(wanted));
  const until = performance.now() + ms;
  while (missing().length && performance.now() < until) await new Promise(then => setTimeout(then, LOOK_MS));
  const told = o => flat(o.label || o.value) + (o.disabled ? ' (disabled)' : '');
  return {missing: missing(), options: [...list.options].map(told)};
};
