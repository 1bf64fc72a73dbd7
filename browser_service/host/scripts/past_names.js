// Reads properties and calls methods past whatever a page puts in their way: forms answer by their fields' names before
// their own properties, and documents by their images' names.
const getter = (type, name) => {
  const {get} = Object.getOwnPropertyDescriptor(type.prototype, name);
  return node => get.call(node);
};
const method = name => {
  const of = Element.prototype[name];
  return (e, ...given) => of.apply(e, given);
};
export const matches = method('matches'), closest = method('closest'), firstIn = method('querySelector'), allIn = method('querySelectorAll');
export const boxOfElement = method('getBoundingClientRect');
const kindOf = getter(Node, 'nodeType'), slotOfElement = getter(Element, 'assignedSlot'), slotOfText = getter(Text, 'assignedSlot');
export const parentElement = getter(Node, 'parentElement'), documentOf = getter(Node, 'ownerDocument');
export const windowOf = getter(Document, 'defaultView'), rootOf = getter(Document, 'documentElement'), bodyOf = getter(Document, 'body');
export const widthIn = getter(Element, 'clientWidth'), heightIn = getter(Element, 'clientHeight');
const scrolledDown = getter(Element, 'scrollTop'), scrolledAcross = getter(Element, 'scrollLeft');
export const shadowOf = getter(Element, 'shadowRoot');
export const isScrolled = e => Boolean(scrolledDown(e) || scrolledAcross(e));

const hostOf = node => {
  const root = Node.prototype.getRootNode.call(node);
  return kindOf(root) === Node.DOCUMENT_FRAGMENT_NODE ? root.host : null;
};
export const around = node => parentElement(node) ?? hostOf(node) ?? null;
export const parentOf = node => {
  const kind = kindOf(node), isText = kind === Node.TEXT_NODE;
  return (isText ? slotOfText(node) : kind === Node.ELEMENT_NODE ? slotOfElement(node) : null) ?? around(node);
};
