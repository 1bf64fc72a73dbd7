// Returns the attributes, text and HTML of an element.
export default e => ({
  attributes: Object.fromEntries([...e.attributes].map(each => [each.name, each.value])),
  text: e.innerText ?? e.textContent,
  html: e.outerHTML,
});
