"""Turns at an origin: how much all clients together ask of it, shared fairly between them."""

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
    """The limits of each origin, over all clients; 0 is no limit, or no pauses."""

    at_once: int = 8
    per_minute: int = 120
    longest_pause_s: int = 900
    local: bool = False
    """Whether the first two hold for this machine and private networks too, where people test what is their own."""

    def of(self, origin: str) -> "OriginLimits":
        """Return the limits of one origin."""
        return self if self.local or not is_private(origin) else replace(self, at_once=0, per_minute=0)


@dataclass(eq=False)
class Visit(Place):
    """A call that sends requests to an origin, or waits to."""

    action: str
    allowed_s: float
    times: int = 1
    """How many requests it sends, one after the other."""


class OriginTurns:
    """Lets visits go within the limits. The last quarter of each limit is for clients that had less than their share:
    whoever is alone may have the rest, and whoever comes new always finds room."""

    def __init__(self, name: str, limits: OriginLimits, send: Send, clock: Clock) -> None:
        self.line = Line[Visit](send, lambda: f"others at {name}", fair=True)
        self._limits = limits
        self._send = send
        self._clock = clock
        self._recent = Recent(clock)
        self._running: dict[Visit, float] = {}

    @property
    def idle(self) -> bool:
        return not self._running and not self.line and not self._recent.seen()

    def enter(self, visit: Visit) -> bool:
        """Let it go if it may go now, else put it in the line of its client; return which."""
        if self._fits(visit):
            visit.grant()
            self._admit(visit)
            return True
        self.line.join(visit)
        self.line.tell()
        return False

    def leave(self, visit: Visit) -> None:
        """Note that it has ended, or waits no longer."""
        self._running.pop(visit, None)
        self.line.leave(visit)
        self.advance()

    def advance(self) -> None:
        """Let those go that fit now, a client after the other."""
        while visit := self.line.first(self._fits):
            self.line.serve(visit)
            self._admit(visit)
            self._send(visit.moved(CallState.RUNNING))
        self.line.tell()

    def runs(self, visit: Visit) -> bool:
        return visit in self._running

    def rate_free_in(self, client_id: str, times: int = 1) -> float:
        """Return the seconds until the rate lets the client pass, if nobody else comes."""
        who = [client for _, client in self._recent.seen()]
        for forgotten in range(len(who)):
            if self._has_room(self._limits.per_minute, who[forgotten:], client_id, times):
                return self._recent.forgets_in(forgotten) if forgotten else 0.0
        return self._recent.forgets_in(len(who)) if who else 0.0

    def free_in(self, visit: Visit) -> float:
        """Return the same for both limits: a running visit ends when it is due, at the latest."""
        due = min(self._running.values(), default=0.0) - self._clock()
        busy = not self._has_room(self._limits.at_once, [each.client_id for each in self._running], visit.client_id)
        return max(self.rate_free_in(visit.client_id, visit.times), due if busy else 0.0)

    def due_in(self, visit: Visit) -> float:
        """Return the seconds until the clock may let it go; infinite where it waits for another's end."""
        return self.rate_free_in(visit.client_id, visit.times) or inf

    def _fits(self, visit: Visit) -> bool:
        running = [each.client_id for each in self._running]
        seen = [client for _, client in self._recent.seen()]
        at_once, per_minute = self._limits.at_once, self._limits.per_minute
        return self._has_room(at_once, running, visit.client_id) and self._has_room(
            per_minute, seen, visit.client_id, visit.times
        )

    def _has_room(self, limit: int, taken: Sequence[str], client_id: str, times: int = 1) -> bool:
        """Say whether a client fits. One that sends more than there ever is room for goes when it is alone, and pays
        for all of it."""
        more = min(times, max(1, limit // 2)) - 1
        free = limit - len(taken) - more
        if not limit or free > limit // 4:
            return True
        clients = max(2, len({client_id, *taken} | self.line.clients))  # another may come at any time
        return free > 0 and taken.count(client_id) + more < max(1, limit // clients)

    def _admit(self, visit: Visit) -> None:
        self._running[visit] = self._clock() + visit.allowed_s
        for _ in range(visit.times):
            self._recent.add(visit.client_id)
