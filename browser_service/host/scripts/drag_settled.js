// Waits until nothing beside an element moves to another place, at most `ms` milliseconds: a sortable list takes a mouse
// over a card that is on its way for one that drags back.
import {isOnItsWay} from "./on_its_way.js";

const TURN_MS = 16;

export default async (e, ms) => {
  const until = performance.now() + ms, around = e.parentElement ?? e;
  while (around.getAnimations({subtree: true}).some(isOnItsWay) && performance.now() < until)
    await new Promise(then => setTimeout(then, TURN_MS));
};
