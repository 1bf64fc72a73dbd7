"""Pages that reach for another place in every possible way."""

import re
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from tests.support.service import Agent
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become, found

CONTROLLED = """new Promise(resolve => {
    navigator.serviceWorker.oncontrollerchange = () => resolve(1);
    if (navigator.serviceWorker.controller) resolve(1);
})"""
HELP = """
const add = (tag, given) => document.body.appendChild(Object.assign(document.createElement(tag), given));
const speculate = url => add('script', {type: 'speculationrules',
    textContent: JSON.stringify({prefetch: [{source: 'list', urls: [url], eagerness: 'immediate'}]})});
const style = '@font-face {font-family: f; src: url(FAR/font)} body {font-family: f}';
const form = '<iframe name=f></iframe><form target=f method=post action="FAR/form"></form>';
"""
VECTORS = {
    "image": "new Image().src = 'FAR/image'",
    "fetch": "fetch('FAR/fetch', {mode: 'no-cors'}).catch(() => 0)",
    "keepalive": "fetch('FAR/keepalive', {mode: 'no-cors', keepalive: true}).catch(() => 0)",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', 'FAR/xhr'); x.send()",
    "beacon": "navigator.sendBeacon('FAR/beacon', 'x')",
    "ping": "add('a', {href: '#x', ping: 'FAR/ping', id: 'ping'}); document.getElementById('ping').click()",
    "websocket": "new WebSocket('SOCKET/websocket')",
    "events": "new EventSource('FAR/events')",
    "script": "add('script', {src: 'FAR/script'})",
    "import": "import('FAR/import').catch(() => 0)",
    "style": "add('link', {rel: 'stylesheet', href: 'FAR/style'})",
    "font": "add('style', {textContent: style})",
    "prefetch": "add('link', {rel: 'prefetch', href: 'FAR/prefetch'})",
    "preload": "add('link', {rel: 'preload', as: 'image', href: 'FAR/preload'})",
    "modulepreload": "add('link', {rel: 'modulepreload', href: 'FAR/modulepreload'})",
    "icon": "document.head.append(Object.assign(document.createElement('link'), {rel: 'icon', href: 'FAR/icon'}))",
    "speculated": "speculate('FAR/speculated')",
    "speculated redirect": "speculate('/to?speculated%20redirect')",
    "redirect": "new Image().src = '/to?redirect'",
    "frame": "add('iframe', {src: 'FAR/frame'})",
    "object": "add('object', {data: 'FAR/object'})",
    "video": "add('video', {src: 'FAR/video'})",
    "report": "add('iframe', {src: '/reporting'})",
    "form": "document.body.insertAdjacentHTML('beforeend', form); document.querySelector('form').submit()",
    "sent on": (
        "add('iframe', {name: 'g'}); add('form', {method: 'post', action: '/to?sent%20on', target: 'g'}).submit()"
    ),
    "refresh": "add('iframe', {src: '/refresh'})",
    "refreshing head": "add('iframe', {src: '/refreshing'})",
    "redirected frame": "add('iframe', {src: '/to?redirected%20frame'})",
    "frame of another site": "add('iframe', {src: 'OTHER/onward'})",
    "scripted frame": "add('iframe', {}).contentWindow.location = 'FAR/scripted%20frame'",
    "written frame": "add('iframe', {srcdoc: `<script>location = 'FAR/written%20frame'</${'script'}>`})",
    "embed": "add('embed', {type: 'text/html', src: 'FAR/embed'})",
    "worker": "new Worker('/worker.js')",
    "shared worker": "new SharedWorker('/shared-worker.js')",
    "service worker": "navigator.serviceWorker.register('/service-worker.js')",
}
WORKERS = {
    "worker": "fetch('FAR/worker', {mode: 'no-cors'}).catch(() => 0); new WebSocket('SOCKET/worker-socket')",
    "shared-worker": (
        "fetch('FAR/shared%20worker', {mode: 'no-cors'}).catch(() => 0); new WebSocket('SOCKET/shared-socket')"
    ),
    "service-worker": """
        oninstall = event => event.waitUntil(fetch('FAR/service%20worker', {mode: 'no-cors'}).catch(() => 0));
        onactivate = event => event.waitUntil(clients.claim());
        onfetch = event => {
            if (event.request.url.endsWith('/answered'))
                event.respondWith(Response.redirect('FAR/answer%20of%20a%20worker'));
        };
        onmessage = async () => {
            for (let goesOn = true; goesOn;) {
                await fetch('FAR/closed', {mode: 'no-cors'}).catch(() => 0);
                new WebSocket('SOCKET/closed-socket').onerror = () => 0;
                goesOn = (await fetch(`/beat/${location.hostname}`)).ok;
            }
        };
    """,
}
BY_CLICK = {
    "popup": "window.open('FAR/popup')",
    "link": "add('a', {href: 'FAR/link'}).click()",
    "popup by link": "add('a', {href: 'FAR/popup%20by%20link', target: '_blank', rel: 'noopener'}).click()",
    "popup by form": "add('form', {method: 'post', action: 'FAR/popup%20by%20form', target: '_blank'}).submit()",
    "redirected popup": "window.open('/to?redirected%20popup')",
    "popup that goes on": "window.open('/').location = 'FAR/popup%20that%20goes%20on'",
    "answer of a worker": "location = '/answered'",
}
"""Each of these needs a click of its own, because a page opens one window for each, or leaves."""


ARRIVALS = {
    *VECTORS,
    *BY_CLICK,
    *("worker-socket", "shared-socket", "closed", "closed-socket"),
} - {"icon", "speculated", "speculated redirect"}
"""The ways by which something always comes; Chromium takes the other three when it sees fit."""
SHOWN = {"document", "iframe", "frame", "object", "embed"}


def set_up(near: Site, far: str) -> Callable[[str], str]:
    """Make the pages that reach for another place in every way. Return what puts the place into a script."""

    def named(text: str) -> str:
        other = near.url("", "elsewhere.localhost")
        return text.replace("FAR", far).replace("SOCKET", far.replace("http", "ws", 1)).replace("OTHER", other)

    def redirect(received: Received) -> Answer:
        return Answer("", 307, headers={"Location": f"{far}/{received.path.partition('?')[2]}"})

    near.page("/", "<title>near</title><button id=go onclick='go()'>here")
    near.page("/to", redirect)
    near.page("/refresh", named("<meta http-equiv=refresh content='0;url=FAR/refresh'>"))
    near.page("/refreshing", Answer("later", headers={"Refresh": named("0;url=FAR/refreshing%20head")}))
    near.page("/onward", named("<script>location = 'FAR/frame%20of%20another%20site'</script>"))
    policy = {"Content-Security-Policy": named("img-src 'none'; report-uri FAR/report")}
    near.page("/reporting", Answer("<img src=/x>", headers=policy))
    for name, script in WORKERS.items():
        near.page(f"/{name}.js", Answer(named(script), content_type="text/javascript"))
    return named


async def reach(agent: Agent, near: Site, far: str, *, clicks: bool = True) -> None:
    """Have a page request something of another place in every way that there is, and be closed."""
    named, host = set_up(near, far), urlsplit(far).hostname or ""
    page_id = "p" + re.sub(r"\W", "-", f"{host}{urlsplit(far).path}")
    url, beat = near.url("/", f"{page_id}.localhost"), f"/beat/{page_id}.localhost"
    near.page(beat, "go on")
    await agent.call("open_page", pageId=page_id, url=url)
    script = HELP + ";\n".join(f"(() => {{ {script} }})()" for script in VECTORS.values())
    await agent.call("evaluate_script", pageId=page_id, expression=named(f"() => {{ {script}; return {CONTROLLED} }}"))
    for way, script in BY_CLICK.items() if clicks else ():
        go = named(f"() => {{ {HELP} window.go = () => {{ {script} }} }}")
        await agent.call("evaluate_script", pageId=page_id, expression=go)
        await agent.reply("click", pageId=page_id, selector="#go")
        if "popup" not in way:
            await arrive(agent, page_id, url)
    await agent.call("evaluate_script", pageId=page_id, expression="navigator.serviceWorker.controller.postMessage(1)")
    await agent.call("close_page", pageId=page_id)
    before = near.counts[beat]
    await become(lambda: near.counts[beat] > before + 2)
    near.page(beat, Answer("", 410))  # a worker that goes on keeps a core busy for half a minute


async def arrive(agent: Agent, page_id: str, url: str) -> None:
    """Go to a page, again while Chromium's own page about a blocked navigation comes late and interrupts it."""
    await found(lambda: agent.reply("goto", pageId=page_id, url=url), lambda reply: reply.is_success)


def arrived(site: Site, host: str) -> set[str]:
    """Return by which ways something came for a host."""
    return {way for each in site.received if host in hosts([each]) and (way := way_of(each)) in {*VECTORS, *ARRIVALS}}


def shown(site: Site, host: str) -> set[str]:
    """Return by which ways a document came for a host that was to be shown, and not only kept for later."""
    return {
        way_of(each)
        for each in site.received
        if host in hosts([each])
        and each.headers.get("Sec-Fetch-Dest") in SHOWN
        and "prefetch" not in each.headers.get("Sec-Purpose", "")
    }


def way_of(received: Received) -> str:
    return unquote(urlsplit(received.path).path).rpartition("/")[2]


def hosts(received: list[Received]) -> set[str]:
    return {each.headers["Host"].partition(":")[0] for each in received}
