// Has Playwright's driver give each document its script before it needs it. It sends 330 KB to each one otherwise, with the
// number of the document written into them, by which Chromium takes them for another script each time and compiles them
// again: 12 to 16 ms of a document's 60, most of it on the way. So the world that no script of the page reaches has the
// script from the document's beginning, and is only asked for it. The little script by which the driver calls it is sent
// beside that, and not after it. And each message goes to the browser, and to us, in one piece: its end, or its length
// before it, would wake them once more. Where the driver has not what is replaced here, it is left as it is.
'use strict';
const Module = require('node:module');

const CHANGES = [
  [
    'return new (module.exports.InjectedScript())(globalThis, ${JSON.stringify(options)});',
    'return options => new (module.exports.InjectedScript())(globalThis, options);',
  ],
  [
    'this._injectedScriptPromise = this.rawEvaluateHandle(source14).then(',
    'this._utilityScript().catch(() => {}); const isThere = this.world === "utility" && options.browserName === "chromium";'
      + 'this._injectedScriptPromise = (isThere ? this.rawEvaluateHandle("makeInjectedScript()")'
      + '.catch(() => this.rawEvaluateHandle(source14)) : this.rawEvaluateHandle(source14))'
      + '.then(make => make.evaluateHandle((make, options) => make(options), options)).then(',
  ],
  [
    'source: "",\n            worldName: this._crPage.utilityWorldName',
    'source: `globalThis.makeInjectedScript = () => { const module = {}; ${source5};'
      + ' return options => new (module.exports.InjectedScript())(globalThis, options); };`,'
      + ' worldName: this._crPage.utilityWorldName',
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

const changed = source => {
  for (const [text, other] of CHANGES) {
    const parts = source.split(text);
    if (parts.length !== 2) return null;
    source = parts.join(other);
  }
  return source;
};

const compile = Module.prototype._compile;
Module.prototype._compile = function (source, filename, ...rest) {
  if (!/[\\/]coreBundle\.js$/.test(filename)) return compile.call(this, source, filename, ...rest);
  Module.prototype._compile = compile;
  return compile.call(this, changed(source) ?? source, filename, ...rest);
};

module.exports = {CHANGES};
