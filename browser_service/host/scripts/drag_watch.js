// Notes a document's events of a drag, and returns a function that ends the watch and returns the notes.
import {named} from "./element_name.js";

export default e => {
  const seen = {}, off = new AbortController();
  const on = (kind, note) => addEventListener(kind, note, {capture: true, signal: off.signal});
  on('dragstart', event => seen.dragstart = event);
  on('drop', event => seen.drop = named(event.target));
  on('dragend', event => seen.effect = event.dataTransfer?.dropEffect);
  on('pointerdown', event => seen.pressed = named(event.composedPath()[0]));
  on('pointerup', event => seen.released = named(event.composedPath()[0]));
  return () => {
    off.abort();
    return {...seen, dragstart: Boolean(seen.dragstart && !seen.dragstart.defaultPrevented)};
  };
};
