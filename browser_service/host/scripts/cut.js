// Returns the first characters of a text. If there is more, a mark and a little of the rest follow, by which the
// service sees whether the cut goes through a secret; it then removes both.
const BEYOND = 2000;

export const cut = (text, most) => {
  if (text.length <= most) return text;
  const at = /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most;
  return `${text.slice(0, at)}\ufdd0${text.slice(at, at + BEYOND).replace(/[\ufdd0\ufdd1]/g, ' ')}\ufdd1`;
};

export default cut;
