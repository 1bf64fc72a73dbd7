// Reads modules and scripts from stdin, by name, and prints what is wrong with each: its syntax, or that it imports what
// is not there.
import {text} from "node:stream/consumers";
import vm from "node:vm";

const {modules, scripts} = JSON.parse(await text(process.stdin)), wrong = {}, known = new Map();
const module = name => known.get(name) ?? known.set(name, new vm.SourceTextModule(modules[name])).get(name);
for (const name of Object.keys(modules)) {
  try {
    if (module(name).status === "unlinked") await module(name).link(other => module(other));
  } catch (error) {
    wrong[name] = String(error);
  }
}
for (const [name, source] of Object.entries(scripts)) {
  try {
    new vm.Script(`(${source})`);
  } catch (error) {
    wrong[name] = String(error);
  }
}
console.log(JSON.stringify(wrong));
