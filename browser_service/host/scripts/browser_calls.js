// Notes what scripts ask of the browser that no document shows: with `asked` a function or a permission, by name, and with
// `stored` a handler's writing to the storage. Returns a function that says whether the page has a permission.
export const browserCalls = (asked, stored) => {
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
  note(globalThis, ['print', 'showOpenFilePicker', 'showSaveFilePicker', 'showDirectoryPicker'], asked);
  note(Clipboard?.prototype, ['write', 'writeText'], () => asked('copy'));
  note(Document.prototype, ['execCommand'], (_, [what]) => { if (what === 'copy') asked(what); });
  note(Clipboard?.prototype, ['read', 'readText'], () => asked('clipboard-read'));
  note(Geolocation?.prototype, ['getCurrentPosition', 'watchPosition'], () => asked('geolocation'));
  note(Notification, ['requestPermission'], () => asked('notifications'));
  note(MediaDevices?.prototype, ['getUserMedia'], (_, [of]) => asked(of?.video ? 'camera' : 'microphone'));
  note(Storage.prototype, ['setItem', 'removeItem', 'clear'], name => {  // what a page writes by itself is no effect
    if (/^(click|pointer|mouse|key|input|change|submit)/.test(globalThis.event?.type)) stored(name);
  });
  return async name => {
    try { return (await permissions.query({name})).state === 'granted'; } catch { return false; }
  };
};

export default browserCalls;
