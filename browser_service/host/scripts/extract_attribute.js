// Returns an attribute of elements, or all that begin as a name that ends with a star.
import {ofEach} from "./of_each.js";

export default ofEach((e, name) => {
  if (!name.endsWith('*')) return e.getAttribute(name);
  const start = name.slice(0, -1).toLowerCase();
  const those = [...e.attributes].filter(a => a.name.toLowerCase().startsWith(start));
  return Object.fromEntries(those.map(a => [a.name, a.value]));
});
