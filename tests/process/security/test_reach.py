"""Tests that no kind of request of a page reaches where it may not go, and that a name leads nowhere else."""

import re
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.listening import become
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Received, Site

HELP = """
const add = (tag, given) => document.body.append(Object.assign(document.createElement(tag), given));
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
    "refresh": "add('iframe', {src: '/refresh'})",
    "popup": "window.open('FAR/popup')",
    "worker": "new Worker('/worker.js')",
    "shared worker": "new SharedWorker('/shared-worker.js')",
    "service worker": "navigator.serviceWorker.register('/service-worker.js')",
}
WORKERS = {
    "worker": "fetch('FAR/worker', {mode: 'no-cors'}).catch(() => 0); new WebSocket('SOCKET/worker-socket')",
    "shared-worker": (
        "fetch('FAR/shared%20worker', {mode: 'no-cors'}).catch(() => 0); new WebSocket('SOCKET/shared-socket')"
    ),
    "service-worker": (
        "oninstall = event => event.waitUntil(fetch('FAR/service%20worker', {mode: 'no-cors'}).catch(() => 0))"
    ),
}
ARRIVALS = {*VECTORS, "worker-socket", "shared-socket"} - {"icon", "speculated", "speculated redirect"}
"""Are the ways by which something comes each time: the other three Chromium takes where it sees fit."""


def set_up(near: Site, far: str) -> str:
    """Make the pages that reach for another host in every way. Return the script that does it."""

    def named(text: str) -> str:
        return text.replace("FAR", far).replace("SOCKET", far.replace("http", "ws", 1))

    def redirect(received: Received) -> Answer:
        return Answer("", 302, headers={"Location": f"{far}/{received.path.partition('?')[2]}"})

    near.page("/", "<title>near</title><p>here")
    near.page("/to", redirect)
    near.page("/refresh", named("<meta http-equiv=refresh content='0;url=FAR/refresh'>"))
    policy = {"Content-Security-Policy": named("img-src 'none'; report-uri FAR/report")}
    near.page("/reporting", Answer("<img src=/x>", headers=policy))
    for name, script in WORKERS.items():
        near.page(f"/{name}.js", Answer(named(script), content_type="text/javascript"))
    return HELP + ";\n".join(f"(() => {{ {script} }})()" for script in VECTORS.values())


async def reach(agent: Agent, near: Site, far: str) -> None:
    """Have a page request something of another host in every way that there is."""
    script = set_up(near, far).replace("FAR", far).replace("SOCKET", far.replace("http", "ws", 1))
    host = urlsplit(far).hostname or ""
    page_id = "p" + re.sub(r"\W", "-", host)
    await agent.call("open_page", pageId=page_id, url=near.url("/", f"{page_id}.localhost"))
    await agent.call("evaluate_script", pageId=page_id, expression=f"() => {{ {script} }}")


def arrived(site: Site, host: str) -> set[str]:
    """Return by which ways something came for a host."""
    paths = (each.path[1:].replace("%20", " ").partition("?")[0] for each in site.received if host in hosts([each]))
    return {path for path in paths if path in VECTORS or path in ARRIVALS}


def hosts(received: list[Received]) -> set[str]:
    return {each.headers["Host"].partition(":")[0] for each in received}


STUN = """port => {
    const connection = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}]});
    connection.createDataChannel('any');
    const gathered = new Promise(resolve => { connection.onicecandidate = event => event.candidate || resolve(true); });
    connection.createOffer().then(offer => connection.setLocalDescription(offer));
    return Promise.race([gathered, new Promise(resolve => setTimeout(resolve, 1000))]);
}"""


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(0)
        yield listener


@pytest.fixture(scope="module")
async def ruled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Start a service whose pages request nothing of one site."""
    rules = {"url_blacklist": ("http://denied.localhost:*",), "url_rules_for": "requests"}
    async with running_service(settings_for(tmp_path_factory.mktemp("ruled"), **rules)) as service:
        yield service


@pytest.fixture
def near() -> Iterator[Site]:
    with Site() as near:
        yield near


@pytest.fixture
def far() -> Iterator[Site]:
    with Site() as far:
        yield far


@pytest.mark.anyio
async def test_no_request_of_a_page_or_its_workers_arrives_where_a_rule_denies_it(
    ruled: RunningService, near: Site, far: Site, datagrams: socket.socket
) -> None:
    """Each way is shown to lead to another host, and what was denied to have been tried before."""
    async with ruled.agent() as agent:
        for host in ("denied.localhost", "open.localhost"):
            await reach(agent, near, far.url("", host))
        await agent.call("evaluate_script", pageId="popen-localhost", expression=STUN, arg=datagrams.getsockname()[1])
        await become(lambda: arrived(far, "open.localhost") >= ARRIVALS)
    with pytest.raises(BlockingIOError):
        datagrams.recv(100)
    assert hosts(far.received) == {"open.localhost"}


@pytest.mark.anyio
async def test_no_request_of_a_page_or_its_workers_arrives_at_the_services_own_port(
    tmp_path: Path, near: Site, far: Site, datagrams: socket.socket
) -> None:
    """Without any rule. The far site stands where the service is, for whatever is said of it by name or address."""
    with Site() as other:
        async with (
            running_service(settings_for(tmp_path).model_copy(update={"port": far.port})) as service,
            service.agent() as agent,
        ):
            for host in ("far.localhost", "127.0.0.2"):
                await reach(agent, near, far.url("", host))
            await reach(agent, near, other.url("", "open.localhost"))
            await agent.call(
                "evaluate_script", pageId="popen-localhost", expression=STUN, arg=datagrams.getsockname()[1]
            )
            await become(lambda: arrived(other, "open.localhost") >= ARRIVALS)
            assert datagrams.recv(100)  # which a browser sends whose connections need not pass a gate
    assert far.received == []


NAMES = {"inside.example": "127.0.0.1", "lan.example": "10.0.0.1", "mapped.example": "::ffff:127.0.0.1"}
"""Are names that lead to this machine, as an attacker's own name server has them do after the first time."""


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer for the names of this test; return those that were looked up, each time."""
    looked_up = list[str]()
    real = socket.getaddrinfo

    def answer(host: str, *given: object, **named: object) -> object:
        if not host.endswith(".example"):
            return real(host, *given, **named)  # type: ignore[arg-type] # as they were given
        looked_up.append(host)
        address = NAMES.get(host, "169.254.169.254")
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return looked_up


ASK = """async url => {
    const socket = new WebSocket(url.replace('http', 'ws'));
    const ended = new Promise(resolve => { socket.onerror = socket.onopen = resolve; });
    const said = await fetch(url, {mode: 'no-cors'}).then(() => 'answered', () => 'failed');
    await ended;
    const image = new Image();
    await new Promise(resolve => { image.onload = image.onerror = resolve; image.src = url; });
    return said;
}"""


@pytest.mark.anyio
async def test_a_name_that_leads_to_a_private_address_is_not_connected_to(
    tmp_path: Path, ruled: RunningService, far: Site, name_server: list[str]
) -> None:
    far.page("/", "inside")
    async with ruled.agent() as agent:  # where it is not refused, the name leads there
        await agent.call("goto", pageId="p", url=f"http://inside.example:{far.port}/")
        assert "inside" in (await agent.call("content", pageId="p"))["content"]
    assert len(far.received) == name_server.count("inside.example") > 0
    far.reset()
    async with (
        running_service(settings_for(tmp_path, private_network="refuse")) as service,
        service.agent() as agent,
    ):
        await agent.call("goto", pageId="p", url="data:text/html,<p>x")
        for name in NAMES:
            url = f"http://{name}:{far.port}/"
            await agent.call("evaluate_script", pageId="p", expression=ASK, arg=url)
            await agent.call("goto", pageId="q", url=url)
            said = (await agent.call("content", pageId="q"))["content"]
            assert "BROWSE_PRIVATE_NETWORK" in said, name
        for url in (far.url(), far.url("/", "localhost"), "http://10.0.0.1/", f"http://[::ffff:7f00:1]:{far.port}/"):
            error = await agent.error("goto", pageId="q", url=url)
            assert (error["code"], error["details"]["context"]["setting"]) == ("FORBIDDEN", "BROWSE_PRIVATE_NETWORK")
        proxy = {"server": f"http://inside.example:{far.port}"}
        await agent.call("create_session", sessionId="proxied", proxy=proxy)
        await agent.call("goto", pageId="r", sessionId="proxied", url="http://anywhere.example/")
        assert "169.254.169.254" in (await agent.call("content", pageId="r"))["content"]
        error = await agent.error("create_session", proxy={"server": f"socks5://inside.example:{far.port}"})
        assert "no kind of proxy that can be checked" in error["message"]
    assert far.received == []


@pytest.mark.anyio
async def test_no_name_and_no_proxy_lead_to_a_metadata_address(ruled: RunningService, name_server: list[str]) -> None:
    async with ruled.agent() as agent:
        await agent.call("goto", pageId="m", url="http://any.example/")
        assert "leads to 169.254.169.254: cloud metadata" in (await agent.call("content", pageId="m"))["content"]
        error = await agent.error("goto", pageId="m", url="https://any.example/")
        assert "ERR_TUNNEL_CONNECTION_FAILED" in error["message"]
        for server in (
            "http://169.254.169.254:80",
            "100.100.100.200",
            "http://[fd00:ec2::254]:80",
            "http://[64:ff9b::a9fe:a9fe]",
        ):
            error = await agent.error("create_session", proxy={"server": server})
            assert (error["code"], "metadata" in error["message"]) == ("FORBIDDEN", True), server
        error = await agent.error("create_session", proxy={"server": f"127.1:{ruled.settings.port}"})
        assert "own address" in error["message"]
    assert "any.example" in name_server
