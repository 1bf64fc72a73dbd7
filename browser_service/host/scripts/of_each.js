// Makes of a function of one element one of all found: it returns what that gives for the first or for every one, and
// how many there are.
export const ofEach = (one, expand = e => [e]) => (found, [every, arg]) => {
  const all = found.flatMap(expand);
  return {values: (every ? all : all.slice(0, 1)).map(e => one(e, arg)), count: all.length};
};
