// Returns an attribute of elements, or, for a name that ends with a star, all whose names begin like that.
import {ofEach} from "./of_each.js";

export default ofEach((e, name) => {
  if (!name.endsWith('*')) return e.getAttribute(name);
  const start = name.slice(0, -1).toLowerCase();
  const those = [...e.attributes].filter(a => a.name.toLowerCase().startsWith(start));
  return Object.fromEntries(those.map(a => [a.name, a.value]));
});
