// Returns where an element is once it is not where it was and moves no more, or after `ms` milliseconds: a page may draw
// what was dragged when its server has answered, or let it slide back.
import {dragPlace} from "./drag_place.js";
import {isOnItsWay} from "./on_its_way.js";

const TURN_MS = 16;

export default async (e, [before, ms]) => {
  const until = performance.now() + ms, same = now => Object.keys(now).every(each => now[each] === before[each]);
  while ((same(dragPlace(e)) || e.getAnimations().some(isOnItsWay)) && performance.now() < until) await new Promise(then => setTimeout(then, TURN_MS));
  return dragPlace(e);
};
