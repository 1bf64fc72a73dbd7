// Turns a function of one element into one of all found: it returns the result for the first or for each, and their
// number.
export const ofEach = (one, expand = e => [e]) => (found, [every, arg]) => {
  const all = found.flatMap(expand);
  return {values: (every ? all : all.slice(0, 1)).map(e => one(e, arg)), count: all.length};
};
