// Returns how many of the tools that a document declares have a text in their names, and what the first of them say of
// themselves; a count of null if the browser does not tell. A mark changes with anything that a tool says.
import {cut} from "./cut.js";
import {toolsOf} from "./tool_count.js";

const schemaText = ({inputSchema}) => typeof inputSchema === 'string' ? inputSchema : JSON.stringify(inputSchema) ?? '';

export const markOf = async tool => {
  const {name, title, description, annotations} = tool;
  const bytes = new TextEncoder().encode(JSON.stringify([name, title, description, annotations, schemaText(tool)]));
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].join(' ');
};

const described = async (tool, mostName, most) => {
  const {readOnlyHint, consequentialHint, untrustedContentHint} = tool.annotations || {};
  return {
    name: cut(tool.name, mostName), description: cut(tool.description || '', most), schema: cut(schemaText(tool), most),
    readOnly: !!readOnlyHint, consequential: !!consequentialHint, untrustedContent: !!untrustedContentHint,
    mark: await markOf(tool),
  };
};

const pageTools = async ([part, exact, shown, mostName, most]) => {
  const fits = ({name}) => exact ? name === part : name.toLowerCase().includes(part.toLowerCase());
  const found = (await toolsOf())?.filter(fits);
  if (!found) return {count: null, tools: []};
  const tools = await Promise.all(found.slice(0, shown).map(tool => described(tool, mostName, most)));
  return {count: found.length, tools};
};

export default pageTools;
