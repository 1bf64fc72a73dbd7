// Returns tag, text and visibility of the first elements found, what a person sees around each and not around the others,
// and CSS that finds it alone ('' for none), to tell them apart.
import {ownCss} from "./css_path.js";
import {cut} from "./cut.js";
import {line, textWithFields} from "./document_parts.js";
import {matches, parentOf} from "./past_names.js";
import {plainValue} from "./secret_field.js";
import {asSeen, texts, unseen} from "./seen.js";
import {seenText} from "./seen_text.js";

const MOST_TEXT = 80, MOST_NEAR = 60, MOST_OTHERS = 200, MOST_BEFORE = 500;
const NAMED = '[aria-label], [title], [alt], title';

const ownText = e => line(e.getAttribute('aria-label') || seenText(e, true) || plainValue(e));
const nameWithin = e => [e, ...e.querySelectorAll(NAMED)].map(each => each.getAttribute('aria-label') || each.getAttribute('title')
  || each.getAttribute('alt') || each.localName === 'title' && each.textContent).find(name => name);
const ofField = e => [...e.labels ?? []].map(label => seenText(label)).find(line) || e.getAttribute('placeholder');

// Returns the largest part of the document that has an element, and none of the others.
const partOf = (e, others) => {
  let part = e;
  for (let up = parentOf(e); up && !others.some(other => up.contains(other)); up = parentOf(up)) part = up;
  return part;
};
// Returns the nearest words before a part, be they a heading's or a label's.
const wordsBefore = part => {
  const before = [...texts(part.ownerDocument)].filter(text => part.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING);
  return line(before.slice(-MOST_BEFORE).findLast(text => line(text.data) && !unseen(text))?.data);
};
const wordsAround = (e, others, own) => {
  const part = partOf(e, others), words = part === e ? '' : line(textWithFields(part));
  const near = words === own ? '' : cut(words, MOST_NEAR);
  return {near, after: near ? '' : cut(wordsBefore(part), MOST_NEAR)};
};

export default asSeen((elements, most) => elements.slice(0, most).map(e => {
  const own = ownText(e), others = elements.slice(0, MOST_OTHERS).filter(other => other !== e);
  const {x, y} = e.getBoundingClientRect(), css = ownCss(e, e.getRootNode());
  return {
    tag: e.tagName.toLowerCase(), text: cut(own || line(nameWithin(e) || ofField(e)), MOST_TEXT),
    visible: e.checkVisibility ? e.checkVisibility() : true,
    ...wordsAround(e, others, own), at: `at ${Math.round(x)}, ${Math.round(y)}`, css: css && matches(e, css) ? css : '',
  };
}));
