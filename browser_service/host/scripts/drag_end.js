// Ends the watch of drag_watch, after pending events, and returns its notes.
export default async end => {
  await new Promise(then => setTimeout(then));
  return end();
};
