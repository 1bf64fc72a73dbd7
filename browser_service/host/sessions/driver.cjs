// Has Playwright's driver send pages one script, whichever document it is for. It writes the number of the document
// into the script, by which Chromium takes it for another each time, and compiles its 330 KB again: 12 to 16 ms of a
// document's 60. The little script by which it calls that one is sent beside it, and not after it. And each message goes
// to the browser, and to us, in one piece: its end, or its length before it, would wake them once more.
//
// And our own scripts, which a mark tells from others, run in the world beside the page's own in which Playwright's do: what
// a page has made of its globals, prototypes and elements is not there. An element stays in the world in which it was
// found until a script asks for it in the other. A message of Chromium's protocol may name that world as its context, too.
//
// And it counts the presses of mouse buttons and keys that it sends to a page: in a browser in which a person works too, the
// others are the person's, and nothing else tells them apart. It answers how many there were itself.
//
// A driver also starts without what only Playwright's other commands need, above all its own MCP server with all of its
// schemas: a third of the processor time of its start. Where the driver has not what is replaced here, it is left as it is.
'use strict';
const Module = require('node:module');

// Stands in no text of a caller: what they give becomes JSON, where this sign is written otherwise.
const MARK = '/*§*/', WORLD = 'beside the page', PRESSES = 'Driver.presses';
const world = expression => `(${expression}.includes("${MARK}") ? "utility" : "main")`;
const inWorld = returnByValue => [
  `return await evaluateExpression(this._context, expression2, { ...options, returnByValue: ${returnByValue} }, this, arg2);`,
  'const context = this.asElement() ? await this._context.raceAgainstContextDestroyed(this._frame.context('
    + `${world('expression2')})) : this._context;\n`
    + `return await evaluateExpression(context, expression2, { ...options, returnByValue: ${returnByValue} }, this, arg2);`,
];
const OWN_WORLD = [
  inWorld(true),
  inWorld(false),
  ...['', 'Handle'].map(kind => {
    const head = `async _evaluateExpression${kind}(expression2, options = {}, arg2) {\n        `;
    return [`${head}const context = await this.context(options.world ?? "main");`,
      `${head}const context = await this.context(options.world ?? ${world('expression2')});`];
  }),
  [
    'const mainContext = await progress3.race(element3._frame.mainContext());\n            '
      + 'return await progress3.race(element3._adoptTo(mainContext));',
    'return element3;',
  ],
  ['return adoptIfNeeded(elementHandle, await elementHandle._frame.mainContext());', 'return elementHandle;'],
  [
    'const targetContext = await elementHandles[0]._frame.mainContext();\n        '
      + 'return Promise.all(elementHandles.map((handle) => adoptIfNeeded(handle, targetContext)));',
    'return elementHandles;',
  ],
  [
    'async queryArrayInMainWorld(selector, scope) {\n        '
      + 'const resolved = await this.callOnSelectorHandle({ selector, mainWorld: true, strict',
    'async queryArrayInMainWorld(selector, scope, world) {\n        '
      + 'const resolved = await this.callOnSelectorHandle({ selector, mainWorld: world === "main", strict',
  ],
  ['const context = await this.frame.context("main");', 'const context = await this.frame.context(world);'],
  [
    'const arrayHandle = await this.selectors.queryArrayInMainWorld(selector, scope);',
    `const arrayHandle = await this.selectors.queryArrayInMainWorld(selector, scope, ${world('expression2')});`,
  ],
  [
    'return { session: new CDPSessionDispatcher(this, await progress2.race(crBrowserContext.newCDPSession('
      + '(params2.page ? params2.page : params2.frame)._object))) };',
    'const of = (params2.page ? params2.page : params2.frame)._object, '
      + 'session = await progress2.race(crBrowserContext.newCDPSession(of)); '
      + 'session._frameOfWorld = () => of.mainFrame?.() ?? of;\n'
      + '        return { session: new CDPSessionDispatcher(this, session) };',
  ],
  [
    'return { result: await this._object.send(progress2, params2.method, params2.params) };',
    `if (params2.params?.executionContextId === "${WORLD}") params2.params.executionContextId = `
      + 'this._object._frameOfWorld().existingContext("utility")?.delegate._contextId;\n        '
      + `if (params2.method === "${PRESSES}") `
        + '{ return { result: { ...this._object._frameOfWorld()._page.delegate._mainFrameSession._client.presses } }; }\n        '
      + 'return { result: await this._object.send(progress2, params2.method, params2.params) };',
  ],
];
// A press is counted in the arguments of the message that sends it.
const press = (text, kind) => [
  text, `...((this._client.presses ??= {}).${kind} = (this._client.presses.${kind} ?? 0) + 1, {}), ${text}`,
];
const COUNTED = [
  press('type: text2 ? "keyDown" : "rawKeyDown",', 'keydown'),
  press('type: "mousePressed",', 'pointerdown'),
  press('type: "touchStart",', 'pointerdown'),
];
const CHANGES = [
  ...OWN_WORLD,
  ...COUNTED,
  [
    'return new (module.exports.InjectedScript())(globalThis, ${JSON.stringify(options)});',
    'return options => new (module.exports.InjectedScript())(globalThis, options);',
  ],
  [
    'this._injectedScriptPromise = this.rawEvaluateHandle(source14).then(',
    'this._utilityScript().catch(() => {}); this._injectedScriptPromise = this.rawEvaluateHandle(source14)'
      + '.then(make => make.evaluateHandle((make, options) => make(options), options)).then(',
  ],
  [
    'this._pipeWrite.write(JSON.stringify(message));\n        this._pipeWrite.write("\\0");',
    'this._pipeWrite.write(JSON.stringify(message) + "\\0");',
  ],
  [
    'this._pipeWrite.write(dataLength);\n        this._pipeWrite.write(data);',
    'this._pipeWrite.cork(); this._pipeWrite.write(dataLength); this._pipeWrite.write(data); this._pipeWrite.uncork();',
  ],
];
const LEAN = [
  [
    'libCli: () => program_exports,',
    'libCli: () => ({ decorateProgram: program => program.command("run-driver").action(() => runDriver()) }),',
  ],
  ['libCliTestStub: () => programWithTestStub_exports,', 'libCliTestStub: () => ({ decorateProgram() {} }),'],
  ['init_program3();\n    init_programWithTestStub();', ''],
  ['init_tools2();\n    init_userAgent();', 'init_driver();\n    init_userAgent();'],
];
const UNUSED = ['\n// node_modules/zod/', '\n// packages/playwright-core/src/utilsBundle.ts'];

const changed = (source, changes) => {
  const places = changes.map(([text, other]) => ({ at: source.indexOf(text), text, other }));
  if (places.some(({ at, text }) => at < 0 || source.includes(text, at + 1))) return null;
  let end = 0;
  const parts = places.sort((one, next) => one.at - next.at).flatMap(({ at, text, other }) => {
    const kept = source.slice(end, at);
    end = at + text.length;
    return [kept, other];
  });
  return [...parts, source.slice(end)].join('');
};

const withoutUnused = source => {
  const [from, to] = [source.indexOf(UNUSED[0]), source.lastIndexOf(UNUSED[1])];
  return from > 0 && to > from ? source.slice(0, from) + source.slice(to) : source;
};

const UNKNOWN = 'Playwright\'s driver is none that we know: our scripts run among those of the pages, which can mislead them.\n';
const isDriver = process.argv[2] === 'run-driver';
const compile = Module.prototype._compile;
let isLean = false;
Module.prototype._compile = function (source, filename, ...rest) {
  const run = text => compile.call(this, text, filename, ...rest);
  const [, bundle] = /[\\/](core|utils)Bundle\.js$/.exec(filename) ?? [];
  if (bundle !== 'core') return run(bundle && isLean ? withoutUnused(source) : source);
  const lean = isDriver ? changed(source, [...CHANGES, ...LEAN]) : null;
  try {
    isLean = lean !== null;
    if (isLean) return run(lean);
  } catch { // what was left out is needed after all
    for (const file of Object.keys(require.cache)) if (file.endsWith('utilsBundle.js')) delete require.cache[file];
  } finally {
    isLean = false;
  }
  const ours = changed(source, CHANGES);
  if (isDriver && !ours) process.stderr.write(UNKNOWN);
  return run(ours ?? source);
};

module.exports = { CHANGES, LEAN, UNUSED };
