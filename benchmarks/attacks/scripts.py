"""What a hostile page runs, at once or when its button is clicked."""

from typing import Final

AT_ONCE: Final = {
    "console": "setInterval(() => { for (let i = 0; i < 500; i++) console.log('flood', i, {i}) })",
    "large console": "setInterval(() => console.log('x'.repeat(10e6)), 50)",
    "errors": "setInterval(() => { for (let i = 0; i < 200; i++) setTimeout(() => { throw Error('x'.repeat(500)) }) })",
    "rejections": "setInterval(() => { for (let i = 0; i < 200; i++) Promise.reject(Error('no')) })",
    "history": "setInterval(() => { for (let i = 0; i < 200; i++) history.pushState(0, '', '#' + Math.random()) })",
    "histories of frames": """for (let i = 0; i < 40; i++) document.body.insertAdjacentHTML('beforeend',
        '<iframe src=/empty></iframe>'); setInterval(() => { for (const frame of document.querySelectorAll('iframe'))
        for (let i = 0; i < 50; i++) frame.contentWindow.history.pushState(0, '', '#' + Math.random()) }, 20)""",
    "hashes": "setInterval(() => { for (let i = 0; i < 200; i++) location.hash = Math.random() })",
    "long addresses": "let n = 0; setInterval(() => history.replaceState(0, '', '#' + n++ + 'x'.repeat(1e6)), 5)",
    "titles": "let n = 0; setInterval(() => { for (let i = 0; i < 200; i++) document.title = 'title ' + n++ })",
    "long titles": "let n = 0; setInterval(() => { document.title = n++ + 'x'.repeat(20e6) }, 20)",
    "reloads": "setTimeout(() => location.reload(), 20)",
    "images": "setInterval(() => { for (let i = 0; i < 50; i++) new Image().src = '/empty?' + Math.random() }, 5)",
    "headers": "setInterval(() => { for (let i = 0; i < 10; i++) fetch('/headers') }, 10)",
    "long bodies": "setInterval(() => fetch('/empty', {method: 'POST', body: 'x'.repeat(5e6)}), 20)",
    "frames that come and go": """setInterval(() => { for (let i = 0; i < 50; i++) {
        const frame = document.createElement('iframe'); document.body.append(frame); frame.remove() } }, 5)""",
    "frames with documents": """setInterval(() => { for (let i = 0; i < 20; i++) {
        const frame = document.createElement('iframe'); frame.src = '/empty?' + Math.random();
        document.body.append(frame); setTimeout(() => frame.remove(), 500) } }, 20)""",
    "websocket": "for (let i = 0; i < 4; i++) new WebSocket(`ws://${location.host}/flood`)",
    "large websocket": """const socket = new WebSocket(`ws://${location.host}/flood`);
        socket.onopen = () => setInterval(() => socket.send('x'.repeat(5e6)), 50)""",
    "stream": "for (let i = 0; i < 4; i++) fetch('/stream').then(answer => answer.blob())",
    "workers": """const source = URL.createObjectURL(new Blob(['postMessage(1)']));
        setInterval(() => { for (let i = 0; i < 20; i++) {
        const worker = new Worker(source); worker.onmessage = () => worker.terminate() } }, 20)""",
    "workers that talk": """const source = URL.createObjectURL(new Blob(['setInterval(() => {' +
        ' for (let i = 0; i < 100; i++) console.log(i) })']));
        for (let i = 0; i < 10; i++) new Worker(source)""",
    "workers that spin": """const source = URL.createObjectURL(new Blob(['for (;;);']));
        for (let i = 0; i < 8; i++) new Worker(source)""",
    "messages": "onmessage = () => { postMessage(1); postMessage(1) }; postMessage(1)",
    "permissions": """setInterval(() => { for (let i = 0; i < 20; i++) {
        Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => 0) } }, 10)""",
    "prints": "setInterval(() => print(), 10)",
    "alerts": "setTimeout(() => { for (;;) alert('again') }, 300)",
    "popups by a timer": "setInterval(() => open('/empty'), 20)",
    "downloads": """setInterval(() => { const link = document.createElement('a'); link.href = '/file';
        link.download = 'x'; document.body.append(link); link.click() }, 5)""",
    "memory": "const kept = []; setInterval(() => kept.push(new Uint8Array(50e6).fill(1)), 50)",
    "spinning": "setTimeout(() => { for (;;); }, 300)",
    "spinning blob": """setTimeout(() => { location = URL.createObjectURL(
        new Blob(['<script>for (;;);</' + 'script>'], {type: 'text/html'})) }, 100)""",
    "states": "let n = 0; setInterval(() => history.replaceState({n: n++, text: 'x'.repeat(2e6)}, ''), 5)",
    "icons": """const icon = document.createElement('link'); icon.rel = 'icon'; document.head.append(icon); let n = 0;
        setInterval(() => { for (let i = 0; i < 50; i++) icon.href = '/empty?' + n++ }, 5)""",
    "blobs": "setInterval(() => { for (let i = 0; i < 500; i++) URL.createObjectURL(new Blob(['x'.repeat(9)])) })",
    "locks": "setInterval(() => { for (let i = 0; i < 200; i++) navigator.locks?.request('a' + i, () => 0) })",
    "queries": """setInterval(() => { for (let i = 0; i < 200; i++)
        navigator.permissions.query({name: 'geolocation'}) })""",
    "cookies": """let n = 0; setInterval(() => { for (let i = 0; i < 150; i++)
        document.cookie = 'c' + i + '=' + n++ + 'x'.repeat(3900) })""",
    "channels": """const all = Array.from({length: 20}, () => new BroadcastChannel('a'));
        setInterval(() => { for (const one of all) one.postMessage('x'.repeat(1e4)) })""",
    "storage writes": """let n = 0; setInterval(() => { for (let i = 0; i < 20; i++)
        localStorage.a = n++ + 'x'.repeat(1e6) })""",
    "databases": """indexedDB.open('a', 1).onupgradeneeded = event => { const base = event.target.result;
        base.createObjectStore('s'); setTimeout(() => setInterval(() => { for (let i = 0; i < 50; i++)
        base.transaction('s', 'readwrite').objectStore('s').put('x'.repeat(1e5), i) }), 100) }""",
    "media sessions": """let n = 0; setInterval(() => { for (let i = 0; i < 200; i++)
        navigator.mediaSession.metadata = new MediaMetadata({title: 'title ' + n++}) })""",
    "beacons": "setInterval(() => { for (let i = 0; i < 200; i++) navigator.sendBeacon('/empty', 'x') })",
    "focus": """document.body.insertAdjacentHTML('beforeend', '<input id=a><select id=b><option>1');
        setInterval(() => { for (let i = 0; i < 500; i++) { a.focus(); b.focus(); focus() } })""",
    "canvas": """const one = document.createElement('canvas'); one.width = one.height = 4000; document.body.append(one);
        const pen = one.getContext('2d'); setInterval(() => { pen.fillStyle = `hsl(${Math.random()}turn 50% 50%)`;
        pen.fillRect(0, 0, 4000, 4000); pen.getImageData(0, 0, 4000, 4000) })""",
    "deep": """let text = ''; for (let i = 0; i < 100000; i++) text += '<div>'; document.body.innerHTML = text;
        setInterval(() => { document.body.style.padding = Math.random() * 9 + 'px' }, 20)""",
    "frames of a server": """for (let i = 0; i < 1000; i++) { const frame = document.createElement('iframe');
        frame.src = '/stream?' + i; document.body.append(frame) }""",
    "drawing": """for (let i = 0; i < 3000; i++) document.body.insertAdjacentHTML('beforeend',
        '<p style="filter: blur(9px); box-shadow: 0 0 50px red">x</p>');
        (function draw() { document.body.style.padding = Math.random() * 9 + 'px'; requestAnimationFrame(draw) })()""",
}
ON_CLICK: Final = {
    "requests": "for (let i = 0; i < 10000; i++) fetch('/empty?' + i)",
    "frames": "for (let i = 0; i < 1500; i++) document.body.append(document.createElement('iframe'))",
    "popups": "for (let i = 0; i < 100; i++) open('/empty')",
    "choosers": """const input = document.createElement('input'); input.type = 'file';
        setInterval(() => { for (let i = 0; i < 20; i++) input.click() }, 10)""",
    "fullscreen": """setInterval(() => { document.documentElement.requestFullscreen().catch(() => 0);
        document.exitFullscreen().catch(() => 0) }, 10)""",
    "confirms": "setTimeout(() => { for (;;) confirm('again') }, 50)",
}
QUIET: Final = {
    "elements": "document.body.innerHTML = '<b>x</b>'.repeat(1e6)",
    "buttons": "document.body.innerHTML = '<button>x</button>'.repeat(2e5)",
    "tall": "document.body.style.height = '3000000px'; document.body.style.background = 'linear-gradient(red, blue)'",
    "storage": "Storage.prototype.getItem = () => 'x'.repeat(50e6); sessionStorage.a = 1; localStorage.a = 1",
    "text": "document.body.append('x '.repeat(25e6))",
}
"""Pages that do harm only when somebody reads them."""


def document(name: str) -> str:
    """Make the page of an attack."""
    on_click, at_once = ON_CLICK.get(name, ""), AT_ONCE.get(name, "") + QUIET.get(name, "")
    return f"""<!doctype html><meta charset=utf-8><title>{name}</title><body><button id=go>Go</button>
<script>document.querySelector('#go').onclick = () => {{ {on_click} }}</script><script>{at_once}</script>"""
