"""The front's end of all links: admits hosts, welcomes or refuses them, and lengthens their leases."""

import asyncio
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import structlog

from browse_together.contract import written
from browse_together.contract.background import AtMost, Background
from browse_together.contract.errors import (
    BrowseError,
    Forbidden,
    InvalidRequest,
    RateLimited,
    ResourceExhausted,
    TimedOut,
    Unauthorized,
)
from browse_together.contract.model import Json
from browser_service.carriers.checks import Assignments, Checks
from browser_service.carriers.hearsay import Hearsay
from browser_service.carriers.host_requests import HostRequests
from browser_service.carriers.link import Link
from browser_service.carriers.messages import LINK, OF_FRONT, Hello, Refused, Welcome, packed, unpacked
from browser_service.carriers.remote_host import RemoteHost
from browser_service.carriers.wire import LinkLost, NotOwner, Wire
from browser_service.host.seam import ArtifactPort
from browser_service.rules.host_clock import check_clock
from browser_service.rules.host_lease import GrantedLease
from browser_service.rules.placement import LOCAL
from browser_service.rules.window import Clock, Rate
from browser_service.security.auth import HostToken

MOST_HOSTS: Final = 200
ADMITTED_A_SECOND: Final = 10
_MOST_ASKED: Final = 200
"""The most requests of one host at once."""
_HELLO_WITHIN_S: Final = 5.0
_KEEP_EVERY_S: Final = 1.0
_READY_WITHIN_S: Final = 30.0
"""How long a host may take to start what it needs for its first sessions."""
_REFUSED_WITHIN_S: Final = 1.0

log = structlog.get_logger(__name__)


class Members(Assignments, Protocol):
    """The registry that gives sessions to hosts."""

    def joined(self, host: RemoteHost) -> tuple[list[str], list[str]]:
        """Take in a host, at its first hello and at each one after. Return which of its sessions stay with it, and
        which it drops. Raises BrowseError to refuse it. It can be asked only afterwards."""

    def drains(self, host: RemoteHost) -> None:
        """Empty a host that wants to end."""

    def gone(self, host: RemoteHost) -> None:
        """Drop a host that has certainly ended."""


class Links:
    """The hosts that have dialled in."""

    def __init__(
        self,
        members: Members,
        artifacts: ArtifactPort,
        check_token: Callable[[HostToken], None],
        *,
        front_start: int,
        lease_ms: int,
        most_pages: int,
        settings: Callable[[], Json] = dict,
        own_places: Callable[[], list[str]] = list,
        clock: Clock = time.monotonic,
    ) -> None:
        """`check_token` raises Unauthorized for a token that has been revoked or has expired. `most_pages` is how many
        a host may have. `settings` and `own_places` return what hosts are told in their welcome; `clock` times
        leases."""
        self._members, self._artifacts, self._check_token = members, artifacts, check_token
        self._front_start, self._lease_ms, self._most_pages = front_start, lease_ms, most_pages
        self._settings, self._own_places, self._clock = settings, own_places, clock
        self.hosts: dict[str, RemoteHost] = {}
        """The living ones, by incarnation; while a link is cut, its host is among them until its lease has ended."""
        self._links: dict[str, tuple[Link, asyncio.Event]] = {}
        self._open = 0
        self._rate = Rate(ADMITTED_A_SECOND, 1.0, clock)
        self._background = Background()

    # --- admission -------------------------------------------------------------------------------------------------

    def admit(self) -> None:
        """Count a new connection, before anything is read from it. Raises RateLimited or ResourceExhausted."""
        if self._open >= MOST_HOSTS:
            raise ResourceExhausted(f"{MOST_HOSTS} hosts are linked already.", hint="Start another installation.")
        if not self._rate.allows():
            raise RateLimited(f"{ADMITTED_A_SECOND} hosts a second are let in.", hint="Dial again in some seconds.")

    async def serve(self, wire: Wire, token: HostToken, address: str) -> None:
        """Serve a host that dialled in with this token, until its link ends."""
        self._open, ended = self._open + 1, asyncio.Event()
        try:
            await self._serve(wire, token, address, ended)
        except LinkLost as error:
            log.info("a host's link has ended", address=address, reason=str(error))
        except BrowseError as error:
            log.warning("a host is refused", address=address, reason=error.message)
            async with AtMost(_REFUSED_WITHIN_S, LinkLost, BrowseError):
                await wire.send(packed(Refused(error=error.body())))
                while True:
                    await wire.receive()  # until the host, which has read it, is gone
        finally:
            ended.set()
            self._open -= 1

    async def serve_bulk(self, wire: Wire, key: str) -> None:
        """Serve a link's second connection until the link has ended. The key is good for one."""
        if (found := self._links.pop(key, None)) is not None:
            link, ended = found
            link.carry_bulk(wire)
            await ended.wait()

    async def _serve(self, wire: Wire, token: HostToken, address: str, ended: asyncio.Event) -> None:
        host = self._host(await _hello(wire), token)
        drains, end = partial(self._members.drains, host), partial(self.end, host, "it said bye")
        link = Link(wire, OF_FRONT, HostRequests(host, self._artifacts, drains, end).do, most_served=_MOST_ASKED)
        host.cut(LinkLost("the host has dialled in again"))
        keeping = asyncio.create_task(self._keep(host, link))  # it begins once the welcome is being sent
        try:
            await wire.send(packed(self._welcome(host, link, ended)))
            host.address = address
            await link.run()
        finally:
            keeping.cancel()
            self._links = {key: each for key, each in self._links.items() if each[0] is not link}
            host.leave(link)
            self._background.spawn(self._outlive(host))

    def _welcome(self, host: RemoteHost, link: Link, ended: asyncio.Event) -> Welcome:
        adopt, drop = self._members.joined(host)
        host.lease.kept(host.hello.now_ms)
        key = secrets.token_urlsafe(18)
        host.keys.append(key)
        self._links[key] = link, ended
        return Welcome(
            name=host.name,
            front_start=self._front_start,
            link=key,
            lease_ms=self._lease_ms,
            settings=self._settings(),
            own_places=self._own_places(),
            adopt=adopt,
            drop=drop,
        )

    def _host(self, hello: Hello, token: HostToken) -> RemoteHost:
        """Return the host that says hello: one that is known, whose link was cut, or a new one."""
        _check(hello)
        if (host := self.hosts.get(hello.incarnation)) is not None:
            if (host.hello.host_id, host.token.pool) != (hello.host_id, token.pool):
                raise Forbidden("Another host has this incarnation.", hint="Start the host anew.")
            host.hello, host.token = hello, token
            return host
        for other in [each for each in self.hosts.values() if each.hello.host_id == hello.host_id]:
            if other.hello.lock == hello.lock:
                self.end(other, "another process has its data directory")
            elif other.linked:
                raise Forbidden(
                    f"The host {other.name} is linked already, with the same hostId and another data directory.",
                    hint="The directory was copied: start this host with an empty one.",
                )
        checks = Checks(
            self._members,
            hello.incarnation,
            most_pages=2 * self._most_pages,  # an outcome may come before the end of the page that made room
            adopted=hello.sessions,
        )
        lease = GrantedLease(self._lease_ms, self._clock)
        name = self._name(hello, token.pool)
        hearsay = Hearsay(name, self._artifacts, checks.label_of, owner_has_rules=self._owner_has_rules)
        host = RemoteHost(hello, token, lease, checks, hearsay)
        self.hosts[hello.incarnation] = host
        return host

    def _owner_has_rules(self) -> bool:
        return bool(self._settings().get("actRules"))

    def _name(self, hello: Hello, pool: str) -> str:
        taken = {LOCAL} | {each.name for each in self.hosts.values() if each.hello.host_id != hello.host_id}
        if hello.name:
            if hello.name in taken:
                raise Forbidden(f"There is a host {hello.name!r} already.", hint="Give this one another --name.")
            return hello.name
        ends = (f"{pool}-{hello.host_id[-length:]}" for length in range(4, len(hello.host_id) + 1))
        return next((name for name in ends if name not in taken), f"{pool}-{hello.incarnation}")

    # --- leases ----------------------------------------------------------------------------------------------------

    async def _keep(self, host: RemoteHost, link: Link) -> None:
        """Lengthen a host's lease again and again, and end the link if it is silent or its token is revoked. The link
        is used from the first time on: then the host is ready, and may act."""
        within_s = _READY_WITHIN_S
        try:
            while True:
                self._check_token(host.token)
                async with asyncio.timeout(within_s):
                    await host.keep(link)
                if within_s == _READY_WITHIN_S:
                    within_s = self._lease_ms / 2000
                    host.use(link)
                    log.info("a host is linked", host=host.name, address=host.address, version=host.hello.version)
                await asyncio.sleep(min(_KEEP_EVERY_S, self._lease_ms / 5000))  # grants go out at a steady pace
        except TimeoutError:
            link.end(LinkLost("it does not answer"))
        except NotOwner:
            link.end(LinkLost("it says that it has no lease"))
        except (BrowseError, LinkLost) as error:
            link.end(error)

    async def _outlive(self, host: RemoteHost) -> None:
        """Wait for a host whose link was cut, until it is back or its lease has ended."""
        while not host.linked and not host.gone:
            if host.lease.ended or not host.lease.ends_in_s:
                self.end(host, "its lease has ended")
            else:
                await asyncio.sleep(min(host.lease.ends_in_s, _KEEP_EVERY_S))  # a lease has no event

    def end(self, host: RemoteHost, reason: str) -> None:
        """Let a host be gone, because it certainly acts no more."""
        if self.hosts.pop(host.incarnation, None) is not None:
            tell = log.info if host.draining else log.warning
            tell("a host is gone", host=host.name, reason=reason, dropped=dict(host.checks.dropped))
            host.lease.end()
            host.end(reason)
            self._members.gone(host)

    def revoke(self, token_id: str) -> None:
        for host in self.hosts.values():
            if host.token.token_id == token_id:
                try:
                    self._check_token(host.token)
                except Unauthorized as error:
                    host.cut(error)

    async def close(self) -> None:
        """End all links, because the front ends. The hosts may dial in again within their leases."""
        for host in self.hosts.values():
            host.cut(LinkLost("the front ends"))
        await self._background.stop()

    # --- files -----------------------------------------------------------------------------------------------------

    def host_of(self, key: str, token: HostToken) -> RemoteHost:
        """Return the host that has this key of a link. Raises Unauthorized."""
        for host in self.hosts.values():
            if key in host.keys and host.token.pool == token.pool:
                return host
        raise Unauthorized(f"The header {LINK} names no link.", hint="Dial in first.")


async def _hello(wire: Wire) -> Hello:
    try:
        async with asyncio.timeout(_HELLO_WITHIN_S):
            text = await wire.receive()
    except TimeoutError:
        raise TimedOut(f"No hello came within {_HELLO_WITHIN_S:.0f} s.", hint="Dial again.") from None
    head, _ = unpacked(text)
    if not isinstance(head, Hello):
        raise InvalidRequest(f"The first message is {head.kind!r}.", hint="Say hello first.")
    return head


def _check(hello: Hello) -> None:
    if hello.catalogue != written.fingerprint() and not hello.sessions:
        raise InvalidRequest(
            f"The host has version {hello.version}, with other actions than this service.",
            hint="Run the version of the service on it too.",
        )
    if warning := check_clock(hello.unix_ms, int(time.time() * 1000)):
        log.warning(warning, host=hello.name or hello.host_id)
