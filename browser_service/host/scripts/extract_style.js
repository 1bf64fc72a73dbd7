// Returns computed style properties of elements, or of one of their pseudo-elements.
import {ofEach} from "./of_each.js";

export default ofEach((e, {properties, pseudo}) => {
  const style = getComputedStyle(e, pseudo);
  const names = properties.includes('*') ? [...style] : properties;
  const value = name => style.getPropertyValue(name) || (CSS.supports(name, 'initial') ? '' : null);
  return Object.fromEntries(names.map(name => [name, value(name)]));
});
