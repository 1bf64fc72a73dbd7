// Makes an engine for selectors after a ref, by which Playwright finds the element that an act is for only where it is
// what the ref was given for. Else the engine throws, which ends the act: `there` stands for an element that went. Its own
// event tells our listeners in the page which element it is.
import {refCheck} from "./ref_check.js";

export default () => {
  let found;
  const refuse = () => { throw new Error('not as given'); };
  return {queryAll: (root, body) => {
    if (body === 'there') {
      if (!found) refuse();
      found = null;
      return [];
    }
    const {event, began, ...given} = JSON.parse(decodeURIComponent(body));
    root.dispatchEvent(new Event(event, {composed: true}));
    if (began && began !== performance.timeOrigin || refCheck(root, given)) refuse();
    return [found = root];
  }};
};
