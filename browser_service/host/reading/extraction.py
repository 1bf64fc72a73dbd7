"""The scripts that read data out of a document. Each reads all of it at once, so that it is of one moment."""

from typing import Final

_COMMON: Final = r"""
const line = text => (text ?? '').replace(/\s+/g, ' ').trim();
const textOf = e => {
  if (e.nodeType !== 1) return e.nodeValue ?? '';
  if (e.matches('select')) return [...e.selectedOptions].map(o => o.text).join(', ');
  if (e.matches('textarea, input:not([type=checkbox], [type=radio], [type=file], [type=password])')) return e.value;
  return e.innerText ?? e.textContent;
};
const absolute = url => { try { return new URL(url, document.baseURI).href } catch { return null } };
const shown = e => e.checkVisibility({visibilityProperty: true});
const within = (root, css) => {
  const found = [...root.querySelectorAll(css)];
  if (!shadows) return found;
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) found.push(...within(e.shadowRoot, css));
  if (root.shadowRoot) found.push(...within(root.shadowRoot, css));
  return found;
};
const IS_TABLE = 'table, [role=table], [role=grid], [role=treegrid]';
const shadows = [...document.querySelectorAll('*')].some(e => e.shadowRoot);
"""
"""A selector looks into open shadow roots, as Playwright's own do."""

TEXT: Final = r"""(e, {trim, normalize}) => {
  if (!trim && !normalize && !e.matches('select, textarea, input')) return e.textContent;
  const text = normalize ? textOf(e).replace(/\s+/g, ' ') : textOf(e);
  return trim ? text.trim() : text;
}"""

HTML: Final = "(e, inner) => inner ? e.innerHTML : e.outerHTML"

ATTRIBUTE: Final = r"""(e, name) => {
  if (!name.endsWith('*')) return e.getAttribute(name);
  const start = name.slice(0, -1).toLowerCase();
  const those = [...e.attributes].filter(a => a.name.toLowerCase().startsWith(start));
  return Object.fromEntries(those.map(a => [a.name, a.value]));
}"""

STYLE: Final = r"""(e, {properties, pseudo}) => {
  const style = getComputedStyle(e, pseudo);
  const names = properties.includes('*') ? [...style] : properties;
  const value = name => style.getPropertyValue(name) || (CSS.supports(name, 'initial') ? '' : null);
  return Object.fromEntries(names.map(name => [name, value(name)]));
}"""

USUAL_STYLE: Final = (
    *("display", "position", "visibility", "opacity", "z-index", "overflow", "color", "background-color"),
    *("background-image", "font-family", "font-size", "font-weight", "font-style", "line-height", "text-align"),
    *("text-decoration-line", "text-transform", "white-space", "width", "height", "margin", "padding", "border"),
    *("border-radius", "box-shadow", "transform", "cursor", "pointer-events", "flex", "gap", "grid-template-columns"),
)
"""What one asks for of a style, where one does not say what."""

TABLES: Final = "e => e.matches(IS_TABLE) ? [e] : within(e, IS_TABLE)"

TABLE: Final = r"""(e, {headers, lists}) => {
  const ROW = ':scope > [role=row], :scope > [role=rowgroup] > [role=row]';
  const CELL = '[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]';
  const rows = e.rows ? [...e.rows] : [...e.querySelectorAll(ROW)];
  const cells = row => row.cells ? [...row.cells] : [...row.querySelectorAll(CELL)];
  const span = (cell, way) =>
    Math.max(1, cell[`${way}Span`] ?? +(cell.getAttribute(`aria-${way}span`) || 1)) || 1;
  const isHeader = cell => cell.matches('th, [role=columnheader]');
  const whole = shown(e);
  const seen = rows.filter(row => !whole || shown(row));
  const grid = seen.map(() => []);
  seen.forEach((row, y) => {
    let x = 0;
    for (const cell of cells(row)) {
      while (grid[y][x] !== undefined) x++;
      const text = line(textOf(cell)), wide = Math.min(span(cell, 'col'), 1000);
      const high = cell.rowSpan === 0 ? seen.length : span(cell, 'row');
      for (let down = y; down < Math.min(y + high, seen.length); down++) {
        if (row.parentElement !== seen[down].parentElement) break;
        for (let across = x; across < x + wide; across++) grid[down][across] ??= text;
      }
      x += wide;
    }
  });
  let head = 0;
  const inHead = row => row.parentElement.matches('thead') ||
    (cells(row).length > 0 && cells(row).every(isHeader) && cells(row).length > (head ? 1 : 0));
  while (head < seen.length && inHead(seen[head])) head++;
  const width = Math.max(0, ...grid.map(row => row.length));
  const names = [], taken = new Set();
  for (let x = 0; x < width; x++) {
    const own = [...new Set(grid.slice(0, head).map(row => row[x]).filter(Boolean))].join(' / ');
    const wanted = headers?.[x] || (headers ? '' : own) || `column${x + 1}`;
    let name = wanted;
    for (let n = 2; taken.has(name); n++) name = `${wanted} (${n})`;
    taken.add(name);
    names.push(name);
  }
  const full = grid.slice(head).filter(row => row.length).map(row => names.map((_, x) => row[x] ?? ''));
  const caption = line(e.caption?.innerText) || e.getAttribute('aria-label') || '';
  return {
    ...(caption && {caption}),
    headers: names,
    rows: lists ? full : full.map(row => Object.fromEntries(row.map((text, x) => [names[x], text]))),
    ...(rows.length > seen.length && {hiddenRows: rows.length - seen.length}),
  };
}"""

LINKS: Final = r"""(root, {site, unique}) => {
  const known = new Set();
  return within(root, 'a, area').flatMap(a => {
    const raw = typeof a.href === 'string' ? a.getAttribute('href') : a.href?.baseVal;
    if (raw == null) return [];
    const url = absolute(raw) ?? raw;
    const same = URL.canParse(url) && new URL(url).origin === location.origin;
    if (site !== 'any' && same !== (site === 'same')) return [];
    if (unique && known.has(url)) return [];
    known.add(url);
    const pictured = [...a.querySelectorAll('img[alt]')].map(i => i.alt).join(' ');
    const text = line(textOf(a)) || a.getAttribute('aria-label') || line(pictured) || a.title || a.alt || '';
    const more = {title: a.title, rel: a.rel, target: typeof a.target === 'string' ? a.target : ''};
    return [{
      text, url, ...Object.fromEntries(Object.entries(more).filter(([_, value]) => value)),
      ...(!shown(a) && a.localName !== 'area' && {hidden: true}),
    }];
  });
}"""

IMAGES: Final = r"""(root, {backgrounds}) => {
  const inline = url => url.startsWith('data:') && url.length > 200;
  const short = url => inline(url) ? `${url.slice(0, 60)}… (${url.length} characters)` : url;
  const found = within(root, 'img, input[type=image], svg image').flatMap(e => {
    const raw = e.currentSrc || e.getAttribute('src') || e.href?.baseVal;
    if (!raw) return [];
    const box = e.getBoundingClientRect();
    return [{
      url: short(absolute(raw) ?? raw), alt: e.getAttribute('alt'),
      ...(e.naturalWidth !== undefined && {width: e.naturalWidth, height: e.naturalHeight}),
      shownWidth: Math.round(box.width), shownHeight: Math.round(box.height),
      ...(e.complete !== undefined && {loaded: e.complete && e.naturalWidth > 0}),
      ...(!shown(e) && {hidden: true}),
    }];
  });
  if (!backgrounds) return found;
  for (const e of [root, ...within(root, '*')]) {
    for (const [_, quoted] of getComputedStyle(e).backgroundImage.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)) {
      const box = e.getBoundingClientRect();
      found.push({
        url: short(quoted.replace(/\\(.)/g, '$1')), background: true,
        shownWidth: Math.round(box.width), shownHeight: Math.round(box.height), ...(!shown(e) && {hidden: true}),
      });
    }
  }
  return found;
}"""

METADATA: Final = r"""() => {
  const said = {}, openGraph = {}, twitter = {}, jsonLd = [], jsonLdBroken = [];
  const add = (into, key, value) => { into[key] = key in into ? [into[key], value].flat() : value };
  for (const meta of document.querySelectorAll('meta[content]')) {
    const key = (meta.getAttribute('property') || meta.name || '').toLowerCase(), value = meta.content;
    if (key.startsWith('og:')) add(openGraph, key.slice(3), value);
    else if (key.startsWith('twitter:')) add(twitter, key.slice(8), value);
    else if (key) add(said, key, value);
  }
  for (const script of document.querySelectorAll('script[type="application/ld+json" i]')) {
    try {
      jsonLd.push(JSON.parse(script.textContent));
    } catch {
      jsonLdBroken.push(script.textContent.trim().slice(0, 200));
    }
  }
  const links = rel => [...document.querySelectorAll(`link[rel~="${rel}" i][href]`)];
  const {description, keywords, ...meta} = said;
  const facts = {
    title: document.title, url: location.href, lang: document.documentElement.lang,
    description: [description].flat()[0], canonical: links('canonical')[0]?.href,
    keywords: [keywords].flat().join(',').split(',').map(line).filter(Boolean),
    openGraph, twitter, jsonLd, jsonLdBroken, meta,
    alternates: links('alternate').map(l => (
      {url: l.href, ...(l.hreflang && {lang: l.hreflang}), ...(l.type && {type: l.type})}
    )),
    icons: links('icon').map(l => l.href),
  };
  const empty = value => !value || (typeof value === 'object' && !Object.keys(value).length);
  return Object.fromEntries(Object.entries(facts).filter(([_, value]) => !empty(value)));
}"""

DATA: Final = r"""async (root, {fields, ms}) => {
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
  let lacking, broken;
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
    if (not) return lacks(field, path, `${JSON.stringify(text.slice(0, 60))} is no ${field.type}`);
    if (text === '' && field.required) return lacks(field, path, 'it is empty');
    return value;
  };
  const all = (at, wanted, before) => Object.fromEntries(Object.entries(wanted).map(([name, field]) => {
    const path = before + name;
    let found;
    try {
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
      lacking = new Map(), broken = new Map();
      const data = all(root, fields, '');
      if (!broken.size || performance.now() >= end) return {data, notFound: told(lacking), broken: told(broken)};
      await new Promise(done => setTimeout(done, 50));
    }
  } catch (invalid) {
    if (!invalid.path) throw invalid;
    return {invalid};
  }
}"""


def over_each(script: str, expand: str = "e => [e]") -> str:
    """For a list of elements: what a script gives for the first, or for every one; and how many there are."""
    return f"""(found, [every, arg]) => {{
      {_COMMON}
      const one = {script}, all = found.flatMap({expand});
      return {{values: (every ? all : all.slice(0, 1)).map(e => one(e, arg)), count: all.length}};
    }}"""


def over_part(script: str) -> str:
    """For one element and all that is in it."""
    return f"(root, arg) => {{ {_COMMON} return ({script})(root, arg); }}"
