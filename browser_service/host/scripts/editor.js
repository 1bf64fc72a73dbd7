// Returns whether an element takes the keys for an editor that keeps its text elsewhere: it has an EditContext, or is a
// text area that is transparent, or too small or clipped to be seen.
const LEAST_PX = 4, MOST_LEVELS = 6;

const isSmall = (e, level = 0) => {
  const {width, height} = e.getBoundingClientRect(), up = e.parentElement;
  const cuts = !level || /hidden|clip/.test(getComputedStyle(e).overflow);
  return cuts && (width < LEAST_PX || height < LEAST_PX) || !!up && level < MOST_LEVELS && isSmall(up, level + 1);
};

export const isEditor = e => !!e.editContext || e.localName === 'textarea' && e.checkVisibility()
  && (!e.checkVisibility({opacityProperty: true}) || isSmall(e));

const ofFirst = found => found.slice(0, 1).map(isEditor);

export default ofFirst;
