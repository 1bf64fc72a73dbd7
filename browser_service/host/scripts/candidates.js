// Returns tag, text and visibility of the first elements found, what a person sees around each and not around the others,
// and CSS that finds it alone ('' for none), to tell them apart.
import {ownCss} from "./css_path.js";
import {cut} from "./cut.js";
import {line, textWithFields} from "./document_parts.js";
import {labelsOf} from "./labels.js";
import {matches, parentOf} from "./past_names.js";
import {plainValue} from "./secret_field.js";
import {asSeen, texts, unseen} from "./seen.js";
import {seenData, seenText} from "./seen_text.js";

const MOST_TEXT = 80, MOST_NEAR = 60, MOST_COUNTED = 200, MOST_BEFORE = 500;
const NAMED = '[aria-label], [title], [alt], title';

const ownText = e => line(e.getAttribute('aria-label') || seenText(e, true) || plainValue(e));
const nameWithin = e => [e, ...e.querySelectorAll(NAMED)].map(each => each.getAttribute('aria-label') || each.getAttribute('title')
  || each.getAttribute('alt') || each.localName === 'title' && each.textContent).find(name => name);
const ofField = e => labelsOf(e).map(label => seenText(label)).find(line) || e.getAttribute('placeholder');

// Returns how many of the elements each part of the document has.
const counted = elements => {
  const counts = new Map();
  for (const e of elements) for (let up = parentOf(e); up; up = parentOf(up)) counts.set(up, (counts.get(up) ?? 0) + 1);
  return counts;
};
// Returns the largest part that has an element, and none of the others.
const partOf = (e, counts) => {
  let part = e;
  for (let up = parentOf(e); up && counts.get(up) === 1; up = parentOf(up)) part = up;
  return part;
};
// Returns the nearest words before a part, be they a heading's or a label's.
const wordsBefore = part => {
  let at = part;
  for (let root = at.getRootNode(); root instanceof ShadowRoot; root = at.getRootNode()) at = root.host;
  const before = [...texts(at.ownerDocument)].filter(text => at.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING);
  const nearest = before.slice(-MOST_BEFORE).findLast(text => line(text.data) && !unseen(text));
  return nearest ? line(seenData(nearest)) : '';
};
const wordsAround = (e, counts, own) => {
  const part = partOf(e, counts), words = part === e ? '' : line(textWithFields(part));
  const near = words === own ? '' : cut(words, MOST_NEAR);
  return {near, after: near ? '' : cut(wordsBefore(part), MOST_NEAR)};
};

export default asSeen((elements, most) => {
  const counts = counted(elements.slice(0, MOST_COUNTED));
  return elements.slice(0, most).map(e => {
    const own = ownText(e), {x, y} = e.getBoundingClientRect(), css = ownCss(e, e.getRootNode());
    return {
      tag: e.tagName.toLowerCase(), text: cut(own || line(nameWithin(e) || ofField(e)), MOST_TEXT),
      visible: e.checkVisibility ? e.checkVisibility() : true,
      ...wordsAround(e, counts, own), at: `at ${Math.round(x)}, ${Math.round(y)}`, css: css && matches(e, css) ? css : '',
    };
  });
});
