// Returns the first characters of a text, followed by a mark and a little more if there is more: the service takes that
// away, and sees by it whether the cut goes through a secret, of which nothing is shown then.
const BEYOND = 2000;

export const cut = (text, most) => {
  if (text.length <= most) return text;
  const at = /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most;
  return `${text.slice(0, at)}\ufdd0${text.slice(at, at + BEYOND).replace(/[\ufdd0\ufdd1]/g, ' ')}\ufdd1`;
};

export default cut;
