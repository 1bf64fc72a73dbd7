// Holds back each window that the document would open before what its person looks at, and calls the function of this
// name with its URL instead, by which it opens behind. A page that asks for one by a script gets null, as if the browser
// had blocked it, unless it does at a press with Control: that one opens behind by itself, and knows its opener. It runs
// before the page's scripts, which cannot call that function.
export default name => {
  const tell = self[name], {open, navigator, document} = self, HERE = ['_self', '_parent', '_top'];
  delete self[name];
  const isFrame = target => [...document.querySelectorAll('iframe, frame')].some(frame => frame.name === target);
  const leaves = target => target && !HERE.includes(target.toLowerCase()) && target !== self.name && !isFrame(target);
  const isBehind = event => event && (event.ctrlKey || event.metaKey || event.button === 1);
  self.open = function (url = '', target = '_blank', ...features) {
    const there = String(target) || '_blank';
    if (!leaves(there) || !navigator.userActivation.isActive || isBehind(self.event))
      return Reflect.apply(open, this, [url, target, ...features]);
    tell(url ? new URL(url, document.baseURI).href : 'about:blank');
    return null;
  };
  const openLink = event => {
    const link = event.composedPath().find(part => part.matches?.('a[href], area[href]'));
    if (!link || event.defaultPrevented || link.hasAttribute('download')) return;
    const target = link.target || document.querySelector('base[target]')?.target;
    if (!(event.shiftKey || isBehind(event) || leaves(target)) || !/^(https?|file|data|blob|about):/.test(link.href)) return;
    event.preventDefault();
    tell(link.href);
  };
  addEventListener('click', openLink);
  addEventListener('auxclick', event => { if (event.button === 1) openLink(event); });
};
