"""Links hosts to a service in this process, over real sockets: the product's host, on a fake browser, or one that only
speaks the messages."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from secrets import token_hex

from websockets.asyncio.client import ClientConnection, connect

from browser_service import configuration
from browser_service.actions import HANDLERS
from browser_service.carriers.dialling import Front
from browser_service.carriers.front_end import Links
from browser_service.carriers.host_end import Fenced, HostEnd, Served
from browser_service.carriers.messages import LINK, Hello, Lock, Welcome
from browser_service.carriers.remote_host import RemoteHost
from browser_service.host.seam import ArtifactPort
from browser_service.host_settings import HostSettings
from browser_service.rules.host_lease import HeldLease
from browser_service.settings import Settings
from client.credentials import mint_host
from shared import wire, written
from shared.actions.traits import Scope
from shared.catalogue import ACTIONS
from shared.errors import Relayed
from shared.pages import SessionSpec
from tests.support.fake_host import FakeHost
from tests.support.json import AnyJson
from tests.support.listening import become
from tests.support.service import RunningService

PATIENCE_S = 10
LEASE_MS = 1_500


class Members:
    """A router that gives whatever it is told to give."""

    def __init__(self) -> None:
        self.sessions = dict[str, str]()
        """The incarnation of each session's host."""
        self.pages = dict[str, str]()
        """The session of each page."""
        self.clients = set[str]()
        """Those that have a page on whichever host."""
        self.ended = list[str]()
        self.draining = list[str]()

    def assigned(self, incarnation: str, session_id: str) -> bool:
        return self.sessions.get(session_id) == incarnation

    def session_of(self, page_id: str) -> str | None:
        return self.pages.get(page_id)

    def has_page(self, incarnation: str, client_id: str) -> bool:  # noqa: ARG002 - of whichever host
        return client_id in self.clients

    def joined(self, host: RemoteHost) -> tuple[list[str], list[str]]:
        kept = [each for each in host.hello.sessions if self.assigned(host.incarnation, each)]
        return kept, [each for each in host.hello.sessions if each not in kept]

    def drains(self, host: RemoteHost) -> None:
        self.draining.append(host.incarnation)

    def gone(self, host: RemoteHost) -> None:
        self.ended.append(host.incarnation)


@dataclass
class FrontSide:
    """A service that takes hosts in."""

    service: RunningService
    members: Members
    links: Links

    def token(self, pool: str = "rack") -> str:
        return mint_host(self.service.secret, pool, pool, 3_600)

    async def host(self, incarnation: str) -> RemoteHost:
        """Wait for a host to be linked."""
        await become(lambda: incarnation in self.links.hosts and self.links.hosts[incarnation].linked)
        return self.links.hosts[incarnation]


def front_of(service: RunningService, lease_ms: int = LEASE_MS) -> FrontSide:
    """Let hosts dial in at a service, before there is a router in it."""
    members = Members()
    parts = service.parts
    links = Links(
        members,
        parts.artifacts,
        parts.revoked.check_host,
        front_start=1,
        lease_ms=lease_ms,
        settings=lambda: HostSettings.of(service.settings).model_dump(mode="json"),
    )
    service.app.state.links = links
    return FrontSide(service, members, links)


def hello(**changes: AnyJson) -> Hello:
    about: dict[str, AnyJson] = {
        "host_id": f"h{token_hex(8)}",
        "lock": Lock(boot_id="b", device=1, inode=1),
        "incarnation": token_hex(12),
        "version": wire.VERSION,
        "catalogue": written.fingerprint(),
        "engines": ["chromium"],
        "unix_ms": int(time.time() * 1000),
    }
    return Hello.model_validate(about | changes)


@dataclass
class Far:
    """A host at the other end of a link."""

    end: HostEnd
    hello: Hello
    kills: int = 0
    made: list[tuple[FakeHost, ArtifactPort]] = field(default_factory=list)
    running: "asyncio.Future[None]" = field(default_factory=asyncio.Future)

    @property
    def host(self) -> FakeHost:
        return self.made[0][0]

    @property
    def files(self) -> ArtifactPort:
        return self.made[0][1]


def far(front: FrontSide, url: str = "", **changes: AnyJson) -> Far:
    """Make a host that is still to be run."""
    settings = front.service.settings
    said = hello(**changes)

    async def make_host(welcome: Welcome, files: ArtifactPort, _: HeldLease) -> Served:
        host = _fake_host(settings, HostSettings.model_validate(welcome.settings), files)
        ours.made.append((host, files))
        return Served(host, kill, lambda: 1_000)

    async def kill() -> None:
        ours.kills += 1
        await ours.host.launcher.stop()

    ours = Far(HostEnd(Front(url or front.service.base_url, front.token), said, make_host, HeldLease()), said)
    return ours


@contextlib.asynccontextmanager
async def running(front: FrontSide, ours: Far) -> AsyncIterator[RemoteHost]:
    """Run a host, and yield it as the front has it, once it is linked."""
    ours.running = asyncio.ensure_future(ours.end.run())
    try:
        yield await front.host(ours.hello.incarnation)
    finally:
        ours.running.cancel()
        with contextlib.suppress(asyncio.CancelledError, Fenced, Relayed):
            await ours.running
        if ours.made:
            await ours.host.stop()


@contextlib.asynccontextmanager
async def linked(front: FrontSide, url: str = "", **changes: AnyJson) -> AsyncIterator[tuple[RemoteHost, Far]]:
    """Link a host for as long as this lasts."""
    ours = far(front, url, **changes)
    async with running(front, ours) as host:
        yield host, ours


def _fake_host(settings: Settings, told: HostSettings, files: ArtifactPort) -> FakeHost:
    policy = configuration.url_policy(told, frozenset)
    handlers = {name: each for name, each in HANDLERS.items() if ACTIONS[name].scope is not Scope.SERVICE}
    options = configuration.launch_options(told, settings, policy)
    return FakeHost(options, handlers, files, policy, configuration.host_limits(told, None))


async def opened(front: FrontSide, host: RemoteHost, session_id: str) -> None:
    """Give a session to a host."""
    front.members.sessions[session_id] = host.incarnation
    await host.open(SessionSpec(session_id=session_id))


@contextlib.asynccontextmanager
async def dialled(front: FrontSide, token: str = "", key: str = "", **given: AnyJson) -> AsyncIterator["Rogue"]:
    """Dial in as a host that may say anything."""
    headers = {"Authorization": f"Bearer {token or front.token()}", **({LINK: key} if key else {})}
    url = front.service.base_url.replace("http", "ws", 1) + wire.HOSTS_LINK
    async with connect(
        url, additional_headers=headers, compression=None, proxy=None, close_timeout=0, **given
    ) as socket:
        yield Rogue(socket)


@dataclass
class Rogue:
    """A host that says whatever a test writes."""

    socket: ClientConnection

    async def say(self, head: AnyJson, body: AnyJson = None) -> None:
        await self.socket.send((json.dumps(head) + ("" if body is None else "\n" + json.dumps(body))).encode())

    async def hear(self) -> tuple[AnyJson, AnyJson]:
        """Return the next message: its head, and its body."""
        async with asyncio.timeout(PATIENCE_S):
            message = await self.socket.recv()
        assert isinstance(message, bytes)
        head, _, body = message.partition(b"\n")
        return json.loads(head), json.loads(body) if body else None

    async def join(self, said: Hello) -> AnyJson:
        """Say hello, and return the answer."""
        await self.say(json.loads(said.model_dump_json()))
        return (await self.hear())[0]

    async def until(self, kind: str) -> AnyJson:
        """Return the next head of a kind; calls in between get no answer."""
        while True:
            head, _ = await self.hear()
            if head["kind"] == kind:
                return head
