// Makes a selector engine to use after a ref, so that Playwright finds an act's element only while it is what the ref
// was given for. Otherwise the engine throws, which ends the act; `there` stands in for an element that is gone. An
// event of its own tells our listeners in the page which element was found.
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
