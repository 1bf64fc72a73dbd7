"""Turns at an origin, so that clients share fairly what they may send there together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from browser_service.rules.clock import Clock
from browser_service.rules.line import Line, Place, Send
from browser_service.rules.recent import Recent
from browser_service.security.urls import is_private
from shared.calls import CallState


@dataclass(frozen=True)
class OriginLimits:
    """Limits per origin, over all clients; 0 means no limit, or no pauses."""

    at_once: int = 8
    per_minute: int = 120
    longest_pause_s: int = 900
    local: bool = False
    """Whether the first two limits also apply to this machine and private networks, where people test their own
    sites."""

    def of(self, origin: str) -> "OriginLimits":
        return self if self.local or not is_private(origin) else replace(self, at_once=0, per_minute=0)


@dataclass(eq=False)
class Visit(Place):
    """A call that sends requests to an origin, or waits to."""

    action: str
    allowed_s: float
    times: int = 1
    """How many requests it sends, one after another."""


class OriginTurns:
    """The visits to one origin, started within the limits. The last quarter of each limit is reserved for clients that
    had less than their share: a lone client may use the rest, and a newcomer always finds room."""

    def __init__(self, name: str, limits: OriginLimits, send: Send, clock: Clock) -> None:
        self.line = Line[Visit](send, lambda: f"others at {name}", fair=True)
        self._limits = limits
        self._send = send
        self._clock = clock
        self._recent = Recent(clock)
        self._running: dict[Visit, float] = {}

    @property
    def idle(self) -> bool:
        return not self._running and not self.line and not self._recent.entries()

    def enter(self, visit: Visit) -> bool:
        """Start the visit if possible, else put it in line. Return whether it started."""
        if self._fits(visit):
            visit.grant()
            self._admit(visit)
            return True
        self.line.join(visit)
        self.line.tell()
        return False

    def leave(self, visit: Visit) -> None:
        """End the visit, or take it out of the line."""
        self._running.pop(visit, None)
        self.line.leave(visit)
        self.advance()

    def advance(self) -> None:
        """Start the waiting visits that now fit, taking clients in turn."""
        while visit := self.line.first(self._fits):
            self.line.serve(visit)
            self._admit(visit)
            self._send(visit.event(CallState.RUNNING))
        self.line.tell()

    def runs(self, visit: Visit) -> bool:
        return visit in self._running

    def rate_free_in(self, client_id: str, times: int = 1) -> float:
        """Return the seconds until the rate limit lets the client pass, if nobody else comes."""
        client_ids = [client for _, client in self._recent.entries()]
        for forgotten in range(len(client_ids)):
            if self._has_room(self._limits.per_minute, client_ids[forgotten:], client_id, times):
                return self._recent.forgets_in(forgotten) if forgotten else 0.0
        return self._recent.forgets_in(len(client_ids)) if client_ids else 0.0

    def free_in(self, visit: Visit) -> float:
        """Return the seconds until both limits let the visit pass, if running visits take all their time."""
        due = min(self._running.values(), default=0.0) - self._clock()
        busy = not self._has_room(self._limits.at_once, [each.client_id for each in self._running], visit.client_id)
        return max(self.rate_free_in(visit.client_id, visit.times), due if busy else 0.0)

    def due_in(self, visit: Visit) -> float:
        """Return the seconds until time alone lets the visit start; infinite if it waits for another visit to end."""
        return self.rate_free_in(visit.client_id, visit.times) or inf

    def _fits(self, visit: Visit) -> bool:
        running = [each.client_id for each in self._running]
        recent = [client for _, client in self._recent.entries()]
        at_once, per_minute = self._limits.at_once, self._limits.per_minute
        return self._has_room(at_once, running, visit.client_id) and self._has_room(
            per_minute, recent, visit.client_id, visit.times
        )

    def _has_room(self, limit: int, client_ids: Sequence[str], client_id: str, times: int = 1) -> bool:
        """Return whether a visit of the client fits. One with more requests than could ever fit goes when it is alone,
        and all its requests count."""
        further = min(times, max(1, limit // 2)) - 1
        free = limit - len(client_ids) - further
        if not limit or free > limit // 4:
            return True
        clients = max(2, len({client_id, *client_ids} | self.line.clients))  # another client may come at any time
        return free > 0 and client_ids.count(client_id) + further < max(1, limit // clients)

    def _admit(self, visit: Visit) -> None:
        self._running[visit] = self._clock() + visit.allowed_s
        for _ in range(visit.times):
            self._recent.add(visit.client_id)
