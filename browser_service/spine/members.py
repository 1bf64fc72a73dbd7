"""The hosts of the front, each as it is now."""

import dataclasses
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from browser_service.host.seam import SessionHost
from browser_service.rules.placement import HostFacts, Needs
from browser_service.rules.window import Clock
from browser_service.store.placements import Placed
from shared.model import Json

_COMES_WITHIN_S: Final = 15.0
"""For so long, the memory of a session that a host was given may not show yet."""


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
