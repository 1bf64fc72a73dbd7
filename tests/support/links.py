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
from websockets.exceptions import ConnectionClosed

from browse_together.client.credentials import mint_host
from browse_together.contract import wire, written
from browse_together.contract.actions.traits import Scope
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import Relayed
from browse_together.contract.pages import SessionSpec
from browser_service import configuration
from browser_service.actions import HANDLERS
from browser_service.carriers.dialling import Front
from browser_service.carriers.front_end import Links
from browser_service.carriers.host_end import Fenced, HostEnd, Served
from browser_service.carriers.messages import Hello, Lock, Welcome
from browser_service.carriers.remote_host import RemoteHost
from browser_service.host.seam import ArtifactPort
from browser_service.host_settings import HostSettings
from browser_service.rules.host_lease import HeldLease, awake_or_asleep
from browser_service.settings import Settings
from tests.support.fake_host import FakeHost
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.waiting import PATIENCE_S, become

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
        most_pages=service.settings.max_pages,
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


def far(front: FrontSide, url: str = "", token: str = "", **changes: AnyJson) -> Far:
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

    ours = Far(
        HostEnd(Front(url or front.service.base_url, lambda: token or front.token()), said, make_host, HeldLease()),
        said,
    )
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


class Rogue:
    """A host that says whatever a test writes. It keeps its lease, and answers other calls as it is told to."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.answers = dict[str, AnyJson]()
        """What it answers, by method."""
        self.told = dict[int, AnyJson]()
        """The answers that it got, by the numbers of its calls: their bodies, after whether they are errors."""
        self.refusal: AnyJson = None
        self.ended = asyncio.Event()
        self._living: asyncio.Task[None] | None = None
        self._grown = asyncio.Event()

    async def say(self, head: AnyJson, body: AnyJson = None) -> None:
        await self.say_bytes((json.dumps(head) + ("" if body is None else "\n" + json.dumps(body))).encode())

    async def say_bytes(self, message: bytes | str) -> None:
        with contextlib.suppress(ConnectionClosed):  # it is cut off in the middle of what is too long
            await self._socket.send(message)

    async def join(self, said: Hello) -> AnyJson:
        """Say hello, and return the answer."""
        await self.say(json.loads(said.model_dump_json()))
        async with asyncio.timeout(PATIENCE_S):
            head, _ = _parts(await self._socket.recv())
        return head

    @contextlib.asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Live meanwhile."""
        self._living = asyncio.create_task(self.live())
        try:
            yield
        finally:
            self._living.cancel()
            await asyncio.gather(self._living, return_exceptions=True)

    def stop_reading(self) -> None:
        assert self._living is not None
        self._living.cancel()
        self._socket.transport.pause_reading()

    async def live(self) -> None:
        """Answer until the front ends the link."""
        try:
            while True:
                head, body = _parts(await self._socket.recv())
                if head["kind"] == "call":
                    await self._answer(head)
                elif head["kind"] == "answer":
                    self.told[head["id"]] = (head["state"], body)
                else:
                    self.refusal = head["error"]
                    return
                self._grown.set()
        except ConnectionClosed:
            return
        finally:
            self.ended.set()

    async def _answer(self, head: AnyJson) -> None:
        kept = {"nowMs": int(awake_or_asleep() * 1000), "load": {"figures": FIGURES}}
        answers = {"grant": kept} | self.answers
        if head["method"] in answers:
            await self.say({"kind": "answer", "id": head["id"]}, answers[head["method"]])

    async def ask(self, number: int, method: str, body: AnyJson) -> AnyJson:
        """Call the front, and return its answer."""
        await self.say({"kind": "call", "id": number, "method": method}, body)
        async with asyncio.timeout(PATIENCE_S):
            while number not in self.told:
                self._grown.clear()
                await self._grown.wait()
        return self.told[number]


FIGURES = dict.fromkeys(("pages", "parked", "sessions", "browsers", "browserRestarts", "memoryMb", "memoryLimitMb"), 0)


def _parts(message: str | bytes) -> tuple[AnyJson, AnyJson]:
    assert isinstance(message, bytes)
    head, _, body = message.partition(b"\n")
    return json.loads(head), json.loads(body) if body else None


@contextlib.asynccontextmanager
async def dialled(front: FrontSide, headers: dict[str, str] | None = None) -> AsyncIterator[Rogue]:
    """Dial in as a host that may say anything."""
    proof = {"Authorization": f"Bearer {front.token()}"} | (headers or {})
    url = front.service.base_url.replace("http", "ws", 1) + wire.HOSTS_LINK
    async with connect(url, additional_headers=proof, compression=None, proxy=None, close_timeout=0) as socket:
        yield Rogue(socket)


@contextlib.asynccontextmanager
async def rogue(front: FrontSide, **changes: AnyJson) -> AsyncIterator[tuple[Rogue, RemoteHost, str]]:
    """Yield a host that has been taken in and may say anything, how the front has it, and the key of its link."""
    said = hello(**changes)
    async with dialled(front) as host:
        welcome = await host.join(said)
        async with host.living():
            yield host, await front.host(said.incarnation), welcome["link"]
