// Returns how many tools a document declares (WebMCP): its own, since those of its frames are theirs. They are counted
// anew only once the document has changed them, and the count is not waited for long: a page may declare any number of
// any size.
const COUNTED = Symbol.for('counted tools'), COUNTED_WITHIN_MS = 100, TOLD_WITHIN_MS = 4000;

// Chromium 156 never answers in one of a thousand frames, until that is loaded again: `null` says so.
export const toolsOf = async () => {
  if (!document.modelContext) return [];
  try {
    const late = new Promise(then => { setTimeout(then, TOLD_WITHIN_MS); });
    return (await Promise.race([document.modelContext.getTools(), late]))?.filter(tool => tool.window === window) ?? null;
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
    const counting = toolsOf().then(tools => { counted.count = tools?.length ?? 0; });
    await Promise.race([counting, new Promise(late => { setTimeout(late, COUNTED_WITHIN_MS); })]);
  }
  return counted.count;
};

export default toolCount;
