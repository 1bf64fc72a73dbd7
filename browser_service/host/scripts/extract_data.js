// Returns data in the form that `fields` describe, once all required fields are there or the time is over.
import {cut} from "./cut.js";
import {line, textOf, absolute, within} from "./document_parts.js";
import {asSeen, reading} from "./seen.js";

const MOST_MS = 2_000;

export default asSeen(async (root, {fields, ms}) => {
  const NOT = ['no', 'false', 'off', '0', ''];
  const decimalOf = e => {
    const lang = e.closest?.('[lang]')?.lang || 'en';
    try {
      return new Intl.NumberFormat(lang).formatToParts(1.5).find(part => part.type === 'decimal').value;
    } catch { return '.' }
  };
  const BY_SPACES = String.raw`\d{1,3}(?:[ '\u2019]\d{3})+(?!\d)(?:[.,]\d+)?`;
  const SIGN = String.raw`(?:(?<![\p{L}\d])([-+]))?\s?(?:\p{Sc}\s?)?`;
  const NUMBER = new RegExp(String.raw`${SIGN}(${BY_SPACES}|\d[\d.,]*\d|\d|(?<![\p{L}\d])[.,]\d+)`, 'u');
  const numberIn = (text, e) => {
    const found = text.replace(/[\u00a0\u202f\u2009]/g, ' ').replace(/[\u2212\u2013]/g, '-').match(NUMBER);
    if (!found) return null;
    const digits = found[2].replace(/[^\d.,]/g, ''), marks = [...digits.replace(/\d/g, '')], last = marks.at(-1);
    const mixed = marks.some(mark => mark !== last), times = marks.filter(mark => mark === last).length;
    const grouped = /^\d{1,3}([.,]\d{3})+$/.test(digits);
    let decimal = last;
    if (mixed ? times > 1 : times > 1 && !grouped) return null;
    if (!mixed && grouped && (times > 1 || (last !== decimalOf(e) && !digits.startsWith('0')))) decimal = null;
    const plain = [...digits].map(c => c === decimal ? '.' : /\d/.test(c) ? c : '').join('');
    return Number((found[1] ?? '') + plain);
  };
  const isSo = (e, said) => {
    const state = ['aria-checked', 'aria-pressed', 'aria-selected'].map(name => e.getAttribute?.(name)).find(Boolean);
    if (said === null && e.matches?.('[type=checkbox], [type=radio]')) return e.checked;
    const word = line(said ?? state ?? textOf(e)).toLowerCase();
    return said === '' || (said === null && !state && word === '') || !NOT.includes(word);
  };
  const nodes = (at, selector) => {
    if (!selector) return [at];
    if (!/^(\/\/|\(\/\/|\.\.|\.\/|xpath=)/.test(selector)) return within(at, selector);
    const path = selector.replace(/^xpath=/, '').replace(/^(\(?)\/\//, '$1.//');
    const found = document.evaluate(path, at, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    return Array.from({length: found.snapshotLength}, (_, i) => found.snapshotItem(i));
  };
  let lacking, broken, until;
  const note = (into, path, why) => into.set(path, {path, why, times: (into.get(path)?.times ?? 0) + 1});
  const lacks = (field, path, why) => {
    note(lacking, path, why);
    if (field.required) note(broken, path, why);
    return null;
  };
  const one = (e, field, path) => {
    if (field.fields) return all(e, field.fields, `${path}.`);
    const link = field.type === 'url' && !field.attribute ? e.getAttribute?.('href') ?? e.getAttribute?.('src') : null;
    const said = field.attribute ? e.getAttribute?.(field.attribute) ?? null : link;
    if (field.type === 'boolean') return field.attribute && said === null ? false : isSo(e, said);
    if (field.attribute && said === null) return lacks(field, path, `it has no attribute ${field.attribute}`);
    const text = field.attribute ? said : said ?? line(textOf(e));
    const value = field.type === 'number' ? numberIn(text, e) : field.type === 'url' ? text && absolute(text) : text;
    const not = field.type === 'url' && !value || value === null;
    if (not) return lacks(field, path, `${JSON.stringify(cut(text, 60))} is no ${field.type}`);
    if (text === '' && field.required) return lacks(field, path, 'it is empty');
    return value;
  };
  const all = (at, wanted, before) => Object.fromEntries(Object.entries(wanted).map(([name, field]) => {
    const path = before + name;
    let found;
    try {
      if (performance.now() > until) throw Error(`it takes more than ${MOST_MS / 1000} s on this page, for its elements`);
      found = nodes(at, field.selector);
    } catch (error) {
      throw {path, selector: field.selector, said: String(error.message)};
    }
    if (field.type === 'boolean' && !found.length && !field.all && !field.required) return [name, false];
    if (!found.length) lacks(field, path, `nothing matches ${field.selector}`);
    return [name, field.all ? found.map(e => one(e, field, path)) : found.length ? one(found[0], field, path) : null];
  }));
  const end = performance.now() + ms;
  const often = times => times > 1 ? ` (${times} times)` : '';
  const told = notes => [...notes.values()].map(({path, why, times}) => `${path}: ${why}${often(times)}`);
  try {
    for (;;) {
      lacking = new Map(), broken = new Map(), reading.unseen = 0, until = performance.now() + MOST_MS;
      const data = all(root, fields, '');
      if (!broken.size || performance.now() >= end) return {data, notFound: told(lacking), broken: told(broken)};
      await new Promise(done => setTimeout(done, 50));
    }
  } catch (invalid) {
    if (!invalid.path) throw invalid;
    return {invalid};
  }
});
