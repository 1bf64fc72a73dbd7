// Returns whether a style sheet draws a text (content of ::before and ::after) anywhere in a document.
export default (root, {exact, regex, flags, text, most, ms}) => {
  const norm = said => said.replace(/\s+/g, ' ').trim(), until = performance.now() + ms;
  const matches = regex === null ? said => exact ? said === text : said.toLowerCase().includes(text.toLowerCase())
    : said => new RegExp(regex, flags).test(said);
  const drawn = (e, pseudo) => {
    const style = getComputedStyle(e, pseudo), {content} = style;
    if (!content || content === 'none' || content === 'normal' || style.display === 'none') return '';
    const strings = content.split(' / ')[0].match(/"(?:[^"\\]|\\.)*"/g) || [];
    return strings.map(each => each.slice(1, -1).replace(/\\(.)/g, '$1')).join('');
  };
  let looked = 0;
  for (const e of root.querySelectorAll('*')) {
    if (++looked > most || looked % 100 === 0 && performance.now() > until) return false;
    const [before, after] = ['::before', '::after'].map(pseudo => drawn(e, pseudo));
    if (!before && !after || !e.checkVisibility({visibilityProperty: true})) continue;
    if ([before, after, before + (e.textContent || '') + after].some(said => said && matches(norm(said)))) return true;
  }
  return false;
};
