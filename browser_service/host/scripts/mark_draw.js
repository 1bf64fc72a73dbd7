// Draws an outline around an element that follows it, takes no clicks and is in no accessibility tree. Scripts see only
// one added, empty element; the drawing is in its closed shadow root, above all dialogs.
export default (element, {tag, label, colour, seconds}) => {
  const document = element.ownerDocument, pane = document.createElement(tag);
  pane.setAttribute('aria-hidden', 'true');
  pane.setAttribute('popover', 'manual');
  pane.style.cssText = 'all: initial; position: fixed; inset: 0; width: 100%; height: 100%; overflow: hidden;'
    + ' pointer-events: none; z-index: 2147483647';
  const box = document.createElement('div'), words = document.createElement('div');
  box.style.cssText = 'position: absolute; border-radius: 2px; outline: 3px solid; outline-offset: 2px';
  box.style.outlineColor = words.style.backgroundColor = colour;
  words.style.cssText += '; position: absolute; font: 600 13px/18px sans-serif; color: white; padding: 1px 6px;'
    + ' border-radius: 2px; max-width: 400px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis';
  words.textContent = label;
  pane.attachShadow({mode: 'closed'}).append(box, ...label ? [words] : []);
  document.documentElement.append(pane);
  pane.showPopover?.();
  const follow = () => {
    if (!pane.isConnected) return;
    if (!element.isConnected) return pane.remove();
    const {left, top, width, height} = element.getBoundingClientRect();
    Object.assign(box.style, {left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`});
    const above = top >= 28 ? top - 26 : Math.min(top + height + 6, innerHeight - 22);
    Object.assign(words.style, {left: `${Math.max(0, left - 5)}px`, top: `${above}px`});
    requestAnimationFrame(follow);
  };
  follow();
  if (seconds) setTimeout(() => pane.remove(), seconds * 1000);
};
