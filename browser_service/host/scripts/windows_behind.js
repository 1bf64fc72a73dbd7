// Holds back each window that the document would open before what its person looks at, and calls the function of this
// name with its URL instead, by which it opens behind. A page that asks for one by a script gets null, as if the browser
// had blocked it, unless it does at a press with Control: that one opens behind by itself, and knows its opener. A form
// that is sent into a window by POST has no URL: it is held back, and the function is called with an empty text. It runs
// before the page's scripts, which cannot call that function.
export default name => {
  const tell = self[name], {getAttribute} = Element.prototype, {open, navigator, document} = self, HERE = ['_self', '_parent', '_top'];
  delete self[name];
  const isFrame = target => [...document.querySelectorAll('iframe, frame')].some(frame => frame.name === target);
  const leaves = target => target && !HERE.includes(target.toLowerCase()) && target !== self.name && !isFrame(target);
  let press = null;
  const isBehind = event => event && (event.ctrlKey || event.metaKey || event.button === 1);
  self.open = function (url = '', target = '_blank', ...features) {
    const there = String(target) || '_blank';
    if (!leaves(there) || !navigator.userActivation.isActive || isBehind(self.event))
      return Reflect.apply(open, this, [url, target, ...features]);
    tell(url ? new URL(url, document.baseURI).href : 'about:blank');
    return null;
  };
  const openForm = event => {
    const form = event.target, by = event.submitter, has = (part, name) => part && Reflect.apply(getAttribute, part, [name]);
    const of = name => has(by, `form${name}`) || has(form, name) || ''; // a field of that name hides the form's property
    const target = of('target') || document.querySelector('base[target]')?.target, method = of('method').toLowerCase();
    if (event.defaultPrevented || method === 'dialog' || !leaves(target) || isBehind(press)) return;
    event.preventDefault();
    const url = new URL(of('action') || document.baseURI, document.baseURI);
    if (method === 'post' || !/^https?:$/.test(url.protocol)) return tell('');
    const given = [...new FormData(form, by)].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]);
    url.search = new URLSearchParams(given);
    tell(url.href);
  };
  const openLink = event => {
    const link = event.composedPath().find(part => part.matches?.('a[href], area[href]'));
    if (!link || event.defaultPrevented || link.hasAttribute('download')) return;
    const target = link.target || document.querySelector('base[target]')?.target;
    if (!(event.shiftKey || isBehind(event) || leaves(target)) || !/^(https?|file|data|blob|about):/.test(link.href)) return;
    event.preventDefault();
    tell(link.href);
  };
  addEventListener('click', event => { press = event; }, true);
  addEventListener('click', openLink);
  addEventListener('submit', openForm);
  addEventListener('auxclick', event => { if (event.button === 1) openLink(event); });
};
