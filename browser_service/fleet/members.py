"""What the front knows of each host, and of each session's placement among them."""

import asyncio
import dataclasses
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from browse_together.contract.model import Json
from browse_together.contract.pages import SessionSpec
from browser_service.host.seam import SessionHost
from browser_service.rules.bounded import Bounded
from browser_service.rules.placement import HostFacts, Needs
from browser_service.rules.window import Clock
from browser_service.store.tables import Placed

_COMES_WITHIN_S: Final = 15.0
"""A new session's memory may take this long to show in its host's figures."""
_MOST_SUSPENDED: Final = 100


class HostElsewhere(SessionHost, Protocol):
    """One incarnation of a host that dials in."""

    @property
    def host_id(self) -> str:
        """Return the lasting id of its data directory."""

    @property
    def incarnation(self) -> str: ...

    @property
    def held(self) -> list[str]:
        """Return the sessions that it had when it last said hello."""

    @property
    def round_trip_s(self) -> float | None:
        """Return how long the last exchange with it took; None before the first."""

    def facts(self) -> HostFacts: ...

    def describe_link(self) -> Json:
        """Return its `version`, `from` where it dials, and `seenMs` since it was last heard of."""

    async def let_go(self) -> None:
        """Tell it that nothing is left to do there, so that it ends."""


@dataclass(eq=False)
class Member:
    """A host of the front: the one in its process, or an incarnation elsewhere."""

    host: SessionHost
    told: Callable[[], HostFacts]
    """Returns what the host last told."""
    elsewhere: HostElsewhere | None = None
    """The same host, unless it is in the front's process and so lives as long."""
    draining: bool = False
    gone: bool = False
    clock: Clock = time.monotonic
    _coming: deque[tuple[float, int]] = field(default_factory=deque)

    @property
    def name(self) -> str:
        return self.told().name

    @property
    def facts(self) -> HostFacts:
        told = self.told()
        while self._coming and self._coming[0][0] < self.clock() - _COMES_WITHIN_S:
            self._coming.popleft()
        coming = sum(megabytes for _, megabytes in self._coming)
        return dataclasses.replace(
            told,
            free_mb=None if told.free_mb is None else told.free_mb - coming,
            draining=told.draining or self.draining,
            gone=told.gone or self.gone,
        )

    @property
    def placed(self) -> Placed | None:
        return None if self.elsewhere is None else Placed(self.elsewhere.host_id, self.elsewhere.incarnation)

    @property
    def reachable(self) -> bool:
        return not (self.gone or self.told().gone)

    @property
    def state(self) -> str:
        facts = self.facts
        return "not connected" if facts.gone else "draining" if facts.draining else "ready"

    def expect(self, needs: Needs) -> None:
        """Count the memory that a session will take."""
        self._coming.append((self.clock(), needs.memory_mb))


@dataclass(eq=False)
class Placement:
    """Where a session is, and what of it only the front knows."""

    session_id: str
    needs: Needs
    persistent: bool
    stays: bool
    """It is the profile on disk, and never leaves the front's own host."""
    clock: Clock
    changed: asyncio.Event
    """Set when it may leave a host that is emptied."""
    spec: SessionSpec | None = None
    """What it was when its last host gave it up, but for what is kept sealed; without one, the front knows it."""
    awaited: Placed | None = None
    """The host that had it before the front started, and may come back with it."""
    member: Member | None = None
    moving: asyncio.Task[None] | None = None
    """What opens it on a host, or takes it away from one; no call passes meanwhile."""
    leaving: bool = False
    barred: bool = False
    """No more calls may begin there, because it is to leave."""
    closed: bool = False
    lost: bool = False
    """Its last host is gone, with what only that had."""
    running: int = 0
    """Calls that are on its host now."""
    used_at: float = 0.0
    asleep: set[str] = field(default_factory=set)
    """Its pages that nothing has been asked of since it came to its host: they have no window there."""
    suspended: Bounded[str, str] = field(default_factory=lambda: Bounded(_MOST_SUSPENDED))
    """The calls that replied because of a dialog, whose end its host tells, with their clients."""
    released: dict[str, tuple[int, bool]] = field(default_factory=dict)
    """The clients that left while no host had it, as `release` says it."""

    def unused(self, since: float) -> bool:
        """Return whether no call has been on its host since a time."""
        return not self.running and self.used_at <= since

    @contextmanager
    def in_use(self, page_id: str | None) -> Iterator[None]:
        """Note that a call is on its host."""
        self.asleep.discard(page_id or "")
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self.used_at = self.clock()
            if not self.running and self.member is not None and self.member.draining:
                self.changed.set()  # it may leave now, before its next call
