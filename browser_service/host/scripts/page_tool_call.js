// Calls a tool that the document declares, if it still has the mark by which the caller knows it, and returns what it
// gave, or why it gave nothing. A tool that does not answer in time is told to stop.
import {cut} from "./cut.js";
import {markOf} from "./page_tools.js";
import {toolsOf} from "./tool_count.js";

const MOST_SAID = 500;

const parsed = given => {
  if (typeof given !== 'string') return given ?? null;
  try {
    return given === 'undefined' ? null : JSON.parse(given);
  } catch {
    return given;
  }
};

export default async ([name, input, withinMs, mark]) => {
  const tools = await toolsOf(), tool = tools?.find(each => each.name === name);
  if (!tools) return {end: 'untold', gave: null};
  if (!tool) return {end: 'missing', gave: null};
  if (mark && mark !== await markOf(tool)) return {end: 'changed', gave: null};
  const stop = new AbortController();
  const late = new Promise(over => {
    setTimeout(() => { over({end: 'late', gave: null}); stop.abort(); }, withinMs);
  });
  const answered = document.modelContext.executeTool(tool, input, {signal: stop.signal})
    .then(given => ({end: 'done', gave: parsed(given)}), error => ({end: 'failed', gave: cut(String(error?.message), MOST_SAID)}));
  return Promise.race([answered, late]);
};
