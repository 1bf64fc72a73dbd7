// Returns how many tools a document declares (WebMCP): its own, since those of its frames are theirs. They are counted
// anew only once the document has changed them, and the count is not waited for long: a page may declare any number of
// any size.
const COUNTED = Symbol.for('counted tools'), COUNTED_WITHIN_MS = 100;

export const toolsOf = async () => {
  if (!document.modelContext) return [];
  try {
    return (await document.modelContext.getTools()).filter(tool => tool.window === window);
  } catch {
    return [];  // the page around this frame does not allow it
  }
};

export const toolCount = async () => {
  if (!document.modelContext) return 0;
  if (!self[COUNTED]) {
    self[COUNTED] = {count: 0, changed: true};
    document.modelContext.addEventListener('toolchange', () => { self[COUNTED].changed = true; });
  }
  const counted = self[COUNTED];
  if (counted.changed) {
    counted.changed = false;
    const counting = toolsOf().then(tools => { counted.count = tools.length; });
    await Promise.race([counting, new Promise(late => { setTimeout(late, COUNTED_WITHIN_MS); })]);
  }
  return counted.count;
};

export default toolCount;
