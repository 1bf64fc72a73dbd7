// Notes what scripts ask of the browser that no document shows: with `asked` a function or a permission, by name, and the
// text that they copy, and with `stored` a handler's writing to the storage. Returns a function that says whether the page
// has a permission.
//
// With `keepsApps` it also keeps links for other apps from opening them: where nobody sees the browser's question whether
// to open one, that question would stay, and keep the mouse and the keys from the page.
const MOST_COPIED = 100000, TEXT = /^(text|search|url|tel|email)$/;
// Returns the selected text, as a copy takes it.
const selected = () => {
  const e = document.activeElement, isField = e?.localName === 'textarea' || e?.localName === 'input';
  if (!isField) return `${getSelection()}`;
  return e.localName === 'input' && !TEXT.test(e.type) ? null : e.value.slice(e.selectionStart, e.selectionEnd);
};
export const browserCalls = (asked, stored, keepsApps) => {
  const {apply} = Reflect, {permissions} = navigator;
  const note = (owner, names, tell) => {
    for (const name of names) {
      if (typeof owner?.[name] !== 'function') continue;
      owner[name] = new Proxy(owner[name], {
        apply: (target, self, given) => {
          tell(name, given);
          return apply(target, self, given);
        },
      });
    }
  };
  const {Clipboard, Geolocation, MediaDevices, Notification, Document, Storage} = globalThis;
  const copiedByPage = event => { if (event.defaultPrevented) copied(event.clipboardData.getData('text/plain')); };
  const copied = text => asked('copy', typeof text === 'string' && text.length <= MOST_COPIED ? text : null);
  note(globalThis, ['print', 'showOpenFilePicker', 'showSaveFilePicker', 'showDirectoryPicker'], asked);
  note(Clipboard?.prototype, ['writeText'], (_, [text]) => copied(text));
  note(Clipboard?.prototype, ['write'], (_, [items]) => {
    copied(null);
    try { items[0].getType('text/plain').then(blob => blob.text()).then(copied, () => {}); } catch {}  // it may be anything
  });
  note(Document.prototype, ['execCommand'], (_, [what]) => {
    if (what !== 'copy') return;
    copied(selected());
    addEventListener('copy', copiedByPage, {once: true});  // after the page's own listeners
  });
  note(Clipboard?.prototype, ['read', 'readText'], () => asked('clipboard-read'));
  note(Geolocation?.prototype, ['getCurrentPosition', 'watchPosition'], () => asked('geolocation'));
  note(Notification, ['requestPermission'], () => asked('notifications'));
  note(MediaDevices?.prototype, ['getUserMedia'], (_, [of]) => asked(of?.video ? 'camera' : 'microphone'));
  note(Storage.prototype, ['setItem', 'removeItem', 'clear'], name => {  // what a page writes by itself is no effect
    if (/^(click|pointer|mouse|key|input|change|submit)/.test(globalThis.event?.type)) stored(name);
  });
  if (keepsApps) globalThis.navigation?.addEventListener('navigate', event => {
    const {url} = event.destination;
    if (!event.cancelable || /^(https?|about|blob|data|file|javascript|chrome|chrome-error|view-source):/.test(url)) return;
    event.preventDefault();
    asked(url);
  });
  return async name => {
    try { return (await permissions.query({name})).state === 'granted'; } catch { return false; }
  };
};
