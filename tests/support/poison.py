"""A script with which a page replaces everything it can: its globals, what their prototypes have, and what each of its
elements has."""

POISON = """<script>{
  document.currentScript.remove();
  const fail = () => { throw new Error('poisoned') }, define = Object.defineProperty;
  const names = Object.getOwnPropertyNames;
  const own = Object.getOwnPropertyDescriptor, up = Object.getPrototypeOf, is = (n, f) => { try { f(n) } catch {} };
  const spoil = (on, name) => is(name, () => {
    const known = own(on, name), bad = known && !known.set && !known.get ? {value: fail} : {get: fail};
    define(on, name, {configurable: true, ...bad});
  });
  const all = [...document.querySelectorAll('*')], globals = names(window);
  const kinds = globals.map(n => window[n]).filter(k => typeof k === 'function' && k.prototype);
  const above = o => o === Object.prototype ? [] : [...names(o), ...above(up(o))];
  const inherited = [...new Set(all.flatMap(e => above(up(e))))];
  const functions = globals.filter(n => typeof window[n] === 'function'), clock = performance;
  for (const e of all) for (const n of inherited) spoil(e, n);
  for (const n of ['now', 'timeOrigin', 'getEntriesByType']) spoil(clock, n);
  for (const n of inherited) spoil(document, n);
  for (const of of [JSON, Math, Reflect, Object, Array, Promise, Date, Symbol, CSS, URL]) {
    for (const n of names(of)) if (n !== 'prototype') spoil(of, n);
  }
  for (const {prototype: of} of kinds) for (const n of names(of)) spoil(of, n);
  for (const {prototype: of} of kinds) is(of, () => define(of, Symbol.iterator, {value: fail}));
  for (const n of functions) spoil(window, n);
  for (const n of ['innerWidth', 'scrollX', 'visualViewport', 'performance', 'localStorage']) spoil(window, n);
}</script>"""
