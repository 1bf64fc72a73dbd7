"""A host's end of the link: dials the front, serves a SessionHost to it, and ends when its lease does."""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import structlog

from browse_together.contract.background import AtMost, Background, until_one_ends
from browse_together.contract.errors import BrowseError, InvalidRequest, Relayed
from browse_together.contract.model import Model
from browser_service.carriers.dialling import DIAL_WITHIN_S, Front, SocketWire, dialled
from browser_service.carriers.link import Link
from browser_service.carriers.messages import (
    LINK,
    OF_FRONT,
    OF_HOST,
    Hello,
    Kept,
    Load,
    Refused,
    Welcome,
    packed,
    unpacked,
)
from browser_service.carriers.pushing import Pushed
from browser_service.carriers.remote_files import RemoteFiles
from browser_service.carriers.wire import LinkLost, NotOwner
from browser_service.host.seam import ArtifactPort, SessionHost
from browser_service.rules.host_lease import Grant, HeldLease
from browser_service.security.known_secrets import KnownSecrets

_MOST_SERVED: Final = 5_000
_SHORTEST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_LOOK_S: Final = 0.25
"""How often the lease is looked at: a machine that slept wakes without an event."""
_KILLED_WITHIN_S: Final = 1.0
_BYE_WITHIN_S: Final = 2.0

log = structlog.get_logger(__name__)


class Fenced(Exception):
    """The lease has ended: this incarnation has killed its browsers, and acts no more."""


@dataclass(frozen=True)
class Served:
    """The host that is served, made once the front has told its settings."""

    host: SessionHost
    kill: Callable[[], Awaitable[None]]
    """Ends all browsers at once, however they are."""
    free_mb: Callable[[], int | None]
    """Returns the memory that is left for browsers; None is no limit."""


MakeHost = Callable[[Welcome, ArtifactPort, HeldLease], Awaitable[Served]]


class HostEnd:
    """One incarnation of a host. It redials whenever its link is cut, for as long as its lease lasts."""

    def __init__(self, front: Front, hello: Hello, make_host: MakeHost, lease: HeldLease) -> None:
        """`hello` is the host's description of itself; clock and sessions are set at each dial. `make_host` is called
        once, at the first welcome, and the host that it returns is started here."""
        self._front, self._hello, self._make_host, self._lease = front, hello, make_host, lease
        self.name = ""
        """What the front calls the host; empty until it is welcomed."""
        self._served: Served | None = None
        self._link: Link | None = None
        self._key = ""
        self._sessions = set[str]()
        self._pushed = Pushed()
        self._stopped = asyncio.Event()
        self._draining = self._leaving = False
        self._heard_at = 0.0
        self._background = Background()
        self.secrets = KnownSecrets()
        """Secrets of calls, which only this process can hide before a text is cut."""
        self.own_places = frozenset[str]()
        """The front's own addresses, which no page may open."""
        self._files = RemoteFiles(front.url, self._file_proof, front.tls, self._tell, self.secrets)

    @property
    def linked(self) -> bool:
        return self._link is not None

    async def run(self) -> None:
        """Dial, and serve until the front lets the host go. Raises Relayed with the front's refusal, and Fenced.
        However this ends, the browsers are no more."""
        try:
            await until_one_ends(self._fence(), self._redial())
        finally:
            await self._kill()
            await self._background.stop()
            await self._files.close()

    def drain(self) -> None:
        """Ask the front to take the sessions elsewhere and to let the host go; `run` ends then."""
        self._draining = True
        self._background.spawn(self._ask_to_drain())

    async def stop(self) -> None:
        """End everything that is there still, and tell the front so. Afterwards `run` ends."""
        if self._lease.ended:
            return  # it is ending already
        self._leaving = True
        self._lease.give_up()
        try:
            if self._served is not None:  # it still answers grants, until the front knows of the end
                await self._served.host.stop()
                await self._pushed.last(self._served.host)
            async with AtMost(_BYE_WITHIN_S, LinkLost, BrowseError):
                await self._tell("bye")
        finally:
            self._stopped.set()
            self._end(LinkLost("the host ends"))

    # --- dialling --------------------------------------------------------------------------------------------------

    async def _redial(self) -> None:
        pause_s = _SHORTEST_PAUSE_S
        while True:
            try:
                async with dialled(self._front, self._proof()) as wire:
                    await self._serve(wire)
                    pause_s = _SHORTEST_PAUSE_S
            except LinkLost as error:
                log.info("the front is not linked", url=self._front.url, reason=str(error))
            if self._leaving:
                await self._stopped.wait()
                return
            await asyncio.sleep(random.uniform(pause_s / 2, pause_s))  # noqa: S311 - so that not all dial at once
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def _proof(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._front.token()}"}

    def _file_proof(self) -> dict[str, str]:
        return self._proof() | {LINK: self._key}

    async def _serve(self, wire: SocketWire) -> None:
        welcome = await self._welcome(wire)
        served = await self._host(welcome)
        link = Link(wire, OF_HOST, self._do, most_served=_MOST_SERVED, goes_on=True, extra="ignore")
        self._heard_at = time.monotonic()
        silence_s = welcome.lease_ms / 2000
        beside = [self._bulk(link, welcome.link), self._pushed.run(link, served.host), self._listen(link, silence_s)]
        tasks = [asyncio.create_task(each) for each in beside]
        self._link = link
        try:
            for session_id in welcome.drop:
                await served.host.close(session_id)
                self._sessions.discard(session_id)
            if self._draining:
                self.drain()
            await link.run()
        finally:
            self._link = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _welcome(self, wire: SocketWire) -> Welcome:
        now = {"unix_ms": int(time.time() * 1000), "now_ms": self._lease.tell(), "sessions": sorted(self._sessions)}
        await wire.send(packed(self._hello.model_copy(update=now)))
        try:
            async with asyncio.timeout(DIAL_WITHIN_S):
                head, _ = unpacked(await wire.receive(), "ignore")
        except TimeoutError:
            raise LinkLost("the front does not answer a hello") from None
        if isinstance(head, Refused):
            raise Relayed(head.error)
        if not isinstance(head, Welcome):
            raise InvalidRequest(f"The front's first message is {head.kind!r}.", hint="Run the same version on both.")
        self.name, self._key = head.name, head.link
        self.own_places |= {*head.own_places, urlsplit(self._front.url).netloc, wire.peer}
        return head

    async def _host(self, welcome: Welcome) -> Served:
        if self._served is None:
            self._served = await self._make_host(welcome, self._files, self._lease)
            await self._served.host.start()
        return self._served

    async def _bulk(self, link: Link, key: str) -> None:
        """Carry large bodies over a second connection, whose end is the link's."""
        try:
            async with dialled(self._front, self._proof() | {LINK: key}) as wire:
                link.carry_bulk(wire)
                await link.ended()
        except (LinkLost, BrowseError) as error:
            link.end(error)

    async def _listen(self, link: Link, silence_s: float) -> None:
        """End the link if the front is silent."""
        while True:
            if (left_s := self._heard_at + silence_s - time.monotonic()) <= 0:
                link.end(LinkLost("the front is silent"))
                return
            await asyncio.sleep(left_s)  # what is waited for is that nothing happens

    # --- serving ---------------------------------------------------------------------------------------------------

    async def _do(self, name: str, asked: Model) -> object:
        """Do what the front asks, if the lease lasts: looked at without an await in between."""
        arguments = dict(asked)
        if name == "grant":
            return await self.grant(**arguments)
        if name == "leave":
            self.leave()
            return None
        if not self._lease.held or self._served is None:
            raise NotOwner
        if name == "run":
            self.secrets.note(arguments["call"].secrets.values())
        answer: object = await getattr(self._served.host, name)(**arguments)
        if name == "open":
            self._sessions.add(arguments["spec"].session_id)
        elif name == "close":
            self._sessions.discard(arguments["session_id"])
        return answer

    async def grant(self, basis_ms: int | None, ttl_ms: int) -> Kept:
        """Lengthen the lease, and tell how the host is."""
        self._heard_at = time.monotonic()
        self._lease.take(Grant(basis_ms, ttl_ms))
        now_ms, served = self._lease.tell(), self._served
        load = Load(figures=await served.host.figures(), free_mb=served.free_mb()) if served is not None else None
        return Kept(now_ms=now_ms, load=load)

    def leave(self) -> None:
        """End, because nothing is left to do here."""
        self._leaving = True
        self._background.spawn(self.stop())

    async def _ask_to_drain(self) -> None:
        with contextlib.suppress(LinkLost, BrowseError):  # the next link asks again
            await self._tell("drain")

    async def _tell(self, name: str, **arguments: object) -> object:
        """Ask the front for something. Raises LinkLost, also if there is no link now."""
        if self._link is None:
            raise LinkLost("there is no link", sent=False)
        method = OF_FRONT[name]
        return await self._link.call(method, name, method.dumped(**arguments))

    # --- the lease -------------------------------------------------------------------------------------------------

    async def _fence(self) -> None:
        """Wait for the end of the lease; then, before anything else, end what runs and kill the browsers."""
        while True:
            if self._lease.ended and not self._leaving:
                log.error("the lease has ended without word from the front: the browsers are killed", host=self.name)
                await self._kill()
                self._end(LinkLost("the lease has ended"))
                raise Fenced
            await asyncio.sleep(min(self._lease.left_s, _LOOK_S) or _LOOK_S)  # a lease ends without an event

    async def _kill(self) -> None:
        self._lease.give_up()
        served, self._served = self._served, None
        if served is not None:
            async with AtMost(_KILLED_WITHIN_S):
                await asyncio.gather(served.kill(), served.host.end_calls(), return_exceptions=True)

    def _end(self, error: Exception) -> None:
        if self._link is not None:
            self._link.end(error)
