// Writes results as JSON text of a bounded length. A page can replace every function, so this counts and joins by
// syntax alone: through its functions a page decides what is written, but never how much.
const MOST_VALUES = 1_000_000, PARSED_VALUES = 50_000, MOST_LEVELS = 64, MOST_CHARACTERS = 4_000_000;
const MOST_WHOLE = 3_002_000, MOST_SAID = 4_000, MOST_FIGURES = 300;
const TOO_MUCH = {__proto__: null};

const head = (text, most) => {
  const cut = text.length > most ? text.slice(0, most) : text;
  return typeof cut === 'string' && cut.length <= most ? cut : '';
};

const CONTROLS = '\0\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f';
const escape = sign => {
  for (let n = 0; n < 32; n++) if (CONTROLS[n] === sign) return '\\u00' + (n < 16 ? '0' : '1') + '0123456789abcdef'[n % 16];
  return '\\' + sign;
};
const escaped = text => {
  let written = '"';
  for (let n = 0; n < text.length; n++) {
    const sign = text[n];
    written += sign < ' ' || sign === '"' || sign === '\\' ? escape(sign) : sign;
  }
  return written + '"';
};
const quoted = text => {  // old libraries give strings a toJSON, which would quote them twice
  const written = ''.toJSON === undefined ? JSON.stringify(text) : escaped(text);
  return typeof written === 'string' ? written : '""';
};

const NUMBERS = {__proto__: null, 'NaN': '"NaN"', 'Infinity': '"Infinity"', '-Infinity': '"-Infinity"'};
const number = value => NUMBERS['' + value] ?? (value === 0 && 1 / value < 0 ? '-0.0' : '' + value);

const spelled = value => {
  try {
    if (value instanceof Window) return 'ref: <Window>';
    if (value instanceof Document) return 'ref: <Document>';
    if (value instanceof Node) return 'ref: <Node>';
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Date) return value.toJSON() ?? 'Invalid Date';
    if (value instanceof URL) return value.href;
    if (value instanceof RegExp) return `/${value.source}/${value.flags}`;
  } catch { /* of another kind */ }
};
const entries = value => {  // a page's own collection may have no end
  const all = [];
  for (const each of value) if (all.length < MOST_VALUES) all[all.length] = each; else break;
  return all;
};
const listed = value => {
  if (Array.isArray(value)) return value;
  if (value instanceof Map || value instanceof Set) return entries(value);
  if (ArrayBuffer.isView(value) && value.length !== undefined) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
};

const pack = value => {
  let values = 0, characters = 0, text = '', excess = '';
  const end = why => { excess = why; throw TOO_MUCH };
  const count = () => { if (++values > MOST_VALUES) end('more than 1,000,000 values') };
  const put = piece => {
    if (typeof piece !== 'string' || (characters += piece.length) > MOST_CHARACTERS) end('more than 4,000,000 characters');
    text += piece;
  };
  const string = given => {
    if (given.length > MOST_CHARACTERS - characters) end('more than 4,000,000 characters');
    put(quoted(given));
  };
  const members = (value, around, level) => {
    const keys = Object.keys(value);
    if (!keys.length && typeof value.toJSON === 'function') return write(value.toJSON(), around, level);
    let before = '{';
    for (let n = 0; n < keys.length; n++, count()) {
      const key = keys[n];
      let member;
      try { member = value[key] } catch { continue }
      put(before);
      string(`${key}`);
      put(':');
      before = ',';
      if (key === 'toJSON' && typeof member === 'function') put('{}'); else write(member, around, level);
    }
    put(before === '{' ? '{}' : '}');
  };
  const write = (value, outer, level) => {
    count();
    if (typeof value === 'string') return string(value);
    if (typeof value === 'number') return put(number(value));
    if (typeof value === 'boolean') return put(value ? 'true' : 'false');
    if (typeof value === 'bigint') return ('' + value).length > MOST_FIGURES ? string('' + value) : put('' + value);
    if (typeof value !== 'object' || value === null) return put('null');
    const known = spelled(value);
    if (typeof known === 'string') return string(known);
    for (let each = outer; each; each = each.outer) if (each.value === value) return put('"[Circular]"');
    if (level >= MOST_LEVELS) end('more than 64 levels');
    const around = {__proto__: null, value, outer}, list = listed(value);
    if (!list) return members(value, around, level + 1);
    put('[');
    for (let n = 0; n < list.length; n++) {
      if (n) put(',');
      write(list[n], around, level + 1);
    }
    put(']');
  };
  try {
    if (typeof value === 'string' && value.length > MOST_WHOLE) {
      string(head(value, MOST_WHOLE));
      return 'c' + value.length + ' ' + text;
    }
    write(value, null, 0);
    return (values > PARSED_VALUES ? 'm' : 'v') + values + ' ' + text;
  } catch (error) {
    if (error === TOO_MUCH) return 'x0 ' + excess;
    throw error;
  }
};

const said = error => {
  let text = '';
  try {
    text = typeof error?.message === 'string' ? `${error.name}: ${error.message}` : `${error}`;
    if (text === '[object Object]') text = pack(error).replace(/^\w+ /, '');
  } catch { /* no words */ }
  return head(text, MOST_SAID) || 'an exception';
};
export const packed = run => {
  try {
    const value = run();
    if (!value || typeof value !== 'object' || typeof value.then !== 'function') return pack(value);
    const wait = async (done, fail) => { try { done(pack(await value)) } catch (error) { fail(said(error)) } };
    return {__proto__: null, then: (done, fail) => { wait(done, fail) }};
  } catch (error) {
    throw said(error);
  }
};
