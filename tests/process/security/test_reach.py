"""Tests that no kind of request of a page reaches where it may not go, and that a name leads nowhere else."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from browser_service.app import browser_host
from browser_service.host.host import LocalHost
from browser_service.host.network.gate import Gate
from browser_service.host.seam import HostLimits
from browser_service.host.sessions.options import LaunchOptions
from browser_service.security.url_rules import UrlRules, url_rule
from browser_service.security.urls import UrlPolicy
from browser_service.services import Handlers
from browser_service.store.artifacts import Artifacts
from tests.support.reaching import ARRIVALS, BY_CLICK, arrived, hosts, reach, shown
from tests.support.relay import Relay
from tests.support.service import RunningService, running_service, settings_for
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

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
    """Start a service whose pages request nothing of one site, and of another all but what is secret and the icon that
    the whole browser asks each site for."""
    denied = ("http://denied.localhost:*", "http://partly.localhost:*/secret", "http://partly.localhost:*/favicon.ico")
    rules = {"url_blacklist": denied, "url_rules_for": "requests"}
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
        await reach(agent, near, far.url("", "denied.localhost"), clicks=False)
        await reach(agent, near, far.url("/secret", "partly.localhost"))
        await reach(agent, near, far.url("/free", "partly.localhost"))
        await become(lambda: arrived(far, "partly.localhost") >= ARRIVALS)
        await agent.call("goto", pageId="stun", url=near.url())
        await agent.call("evaluate_script", pageId="stun", expression=STUN, arg=datagrams.getsockname()[1])
    with pytest.raises(BlockingIOError):
        datagrams.recv(100)
    assert hosts(far.received) == {"partly.localhost"}
    assert [each.path for each in far.received if not each.path.startswith("/free/")] == []


@pytest.mark.anyio
@pytest.mark.long
async def test_no_document_is_shown_from_where_a_rule_for_documents_denies_it(
    tmp_path: Path, near: Site, far: Site
) -> None:
    """Each way is shown to lead elsewhere, and what is no document to be free."""
    async with (
        running_service(settings_for(tmp_path, url_blacklist=("http://denied.localhost:*",))) as service,
        service.agent() as agent,
    ):
        for host in ("denied.localhost", "open.localhost"):
            await reach(agent, near, far.url("", host))
        await become(lambda: arrived(far, "open.localhost") >= ARRIVALS)
        documents = shown(far, "open.localhost")
        assert documents >= {*BY_CLICK, "form", "sent on", "frame of another site", "embed", "refreshing head"}
        assert arrived(far, "denied.localhost") - {"speculated", "speculated redirect", "icon"} == ARRIVALS - documents
        assert shown(far, "denied.localhost") == set()


async def greeted(port: int, server: int, *protocols: str) -> bytes:
    """Return what comes back through a gate when a browser greets a host by TLS."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"CONNECT partly.localhost:%d HTTP/1.1\r\n\r\n" % server)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    context, sent = ssl.create_default_context(), ssl.MemoryBIO()
    context.set_alpn_protocols([*protocols])
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="partly.localhost").do_handshake()
    writer.write(sent.read())
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.anyio
async def test_an_encrypted_websocket_to_a_host_with_only_some_allowed_paths_is_refused(far: Site) -> None:
    """Pages' WebSockets are recognized by the protocols that they offer. The server also answers what is no HTTP."""
    for rules, arrives in (
        ({"denied": (url_rule(f"https://partly.localhost:{far.port}/secret"),)}, False),
        ({"allowed": (url_rule(f"https://partly.localhost:{far.port}/free"),)}, False),
        ({"allowed": (url_rule(f"https://partly.localhost:{far.port}"),)}, True),
    ):
        gate = Gate(UrlPolicy(rules=UrlRules(for_requests=True, **rules)))
        await gate.start()
        try:
            assert b"Bad request" in await greeted(gate.port, far.port, "h2", "http/1.1")
            assert (b"Bad request" in await greeted(gate.port, far.port, "http/1.1")) is arrives, rules
        finally:
            await gate.stop()


@pytest.mark.anyio
@pytest.mark.long
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
                await reach(agent, near, far.url("", host), clicks=False)
            await reach(agent, near, other.url("", "open.localhost"), clicks=False)
            await agent.call("goto", pageId="stun", url=near.url())
            await agent.call("evaluate_script", pageId="stun", expression=STUN, arg=datagrams.getsockname()[1])
            await become(lambda: arrived(other, "open.localhost") >= ARRIVALS - {*BY_CLICK})
            datagrams.settimeout(PATIENCE_S)  # which a browser sends whose connections need not pass a gate
            assert await asyncio.to_thread(datagrams.recv, 100)
    assert far.received == []


NAMES = {"inside.example": "127.0.0.1", "lan.example": "10.0.0.1", "mapped.example": "::ffff:127.0.0.1"}
"""Names that resolve to this machine, as an attacker's name server can make them do from the second query on."""


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
    assert 0 < len(far.received) <= name_server.count("inside.example")  # a browser may ask ahead of a request
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
        await agent.call(
            "create_session", sessionId="by-socks", proxy={"server": f"socks5://inside.example:{far.port}"}
        )
        await agent.call("goto", pageId="s", sessionId="by-socks", url="http://anywhere.example/")
        assert "169.254.169.254" in (await agent.call("content", pageId="s"))["content"]
    assert far.received == []


def _elsewhere(
    options: LaunchOptions, handlers: Handlers, artifacts: Artifacts, policy: UrlPolicy, limits: HostLimits
) -> LocalHost:
    """Make a host as on another machine than the service's."""
    policy = replace(policy, elsewhere=True, opens_loopback=False)
    return browser_host(replace(options, policy=policy), handlers, artifacts, policy, limits)


@pytest.mark.anyio
async def test_a_page_of_a_host_elsewhere_does_not_reach_that_machine_by_any_name(
    tmp_path: Path, far: Site, name_server: list[str]
) -> None:
    async with running_service(settings_for(tmp_path), make_host=_elsewhere) as service, service.agent() as agent:
        await agent.call("goto", pageId="p", url="data:text/html,<p>x")
        for name in ("inside.example", "mapped.example", "localhost"):
            await agent.call("evaluate_script", pageId="p", expression=ASK, arg=f"http://{name}:{far.port}/")
        error = await agent.error("goto", pageId="q", url=far.url("/", "localhost"))
        assert (error["code"], "another machine" in error["message"]) == ("FORBIDDEN", True)
        await agent.call("goto", pageId="q", url=f"http://inside.example:{far.port}/")
        assert "another machine" in (await agent.call("content", pageId="q"))["content"]
    assert far.received == []
    assert "inside.example" in name_server


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


SOCKETS = """async url => {
    const ends = make => new Promise(resolve => {
        const one = make();
        one.onerror = one.onopen = one.onmessage = resolve;
    });
    const ask = `const s = new WebSocket('${url}'); s.onerror = s.onopen = () => postMessage(1)`;
    await ends(() => new WebSocket(url));
    await ends(() => new Worker(URL.createObjectURL(new Blob([ask]))));
}"""


@pytest.mark.anyio
async def test_a_proxy_is_asked_for_nothing_that_is_always_refused(tmp_path: Path, near: Site) -> None:
    near.page("/", "<title>near</title>")
    async with (
        Relay() as relay,
        running_service(settings_for(tmp_path, proxy=f"http://127.0.0.1:{relay.port}")) as service,
        service.agent() as agent,
    ):
        await agent.call("create_session", sessionId="own")
        await agent.call("create_session", sessionId="by-socks", proxy={"server": f"socks5://127.0.0.1:{relay.port}"})
        for session_id in ("default", "own", "by-socks"):
            relay.asked.clear()
            page_id, given = f"p-{session_id}", {"pageId": f"p-{session_id}"}
            opened = await agent.call("open_page", pageId=page_id, sessionId=session_id, url=near.url())
            assert "HTTP 200" in opened["observed"]
            for host in (
                "169.254.169.254",
                "[fd00:ec2::254]",
                "metadata.google.internal",
                f"127.1:{service.settings.port}",
            ):
                await agent.call("evaluate_script", **given, expression=SOCKETS, arg=f"ws://{host}/")
            assert {*relay.asked} == {f"127.0.0.1:{near.port}"}, session_id
