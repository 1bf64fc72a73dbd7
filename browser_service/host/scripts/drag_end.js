// Ends the watch that drag_watch began, once what is under way is told too, and returns its notes.
export default async end => {
  await new Promise(then => setTimeout(then));
  return end();
};
