// Has Playwright's driver send pages one script, whichever document it is for. It writes the number of the document
// into the script, by which Chromium takes it for another each time, and compiles its 330 KB again: 12 to 16 ms of a
// document's 60. The little script by which it calls that one is sent beside it, and not after it. And each message goes
// to the browser, and to us, in one piece: its end, or its length before it, would wake them once more. Where the driver
// has not what is replaced here, it is left as it is.
'use strict';
const Module = require('node:module');

const CHANGES = [
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
