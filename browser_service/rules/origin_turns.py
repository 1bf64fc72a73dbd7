"""Limits the requests that all clients together send to one origin: how many at once, and how many per minute."""

import contextlib
from collections import Counter
from dataclasses import dataclass, replace
from math import inf
from urllib.parse import urljoin

from browser_service.rules.turns import Line, Place, Send
from browser_service.rules.window import Clock, MovingWindow
from browser_service.security.urls import is_private, origin_of
from shared.actions.base import Action
from shared.calls import CallState


def visits(action: Action) -> bool:
    """Return whether the action sends a request to a site, at its `url` or where the page is."""
    return bool(action.navigates or action.request_method)


def count_visits(action: Action, page_url: str) -> Counter[str]:
    """Count the requests of a call per origin, by its URLs or by the page's URL at that point."""
    origins: Counter[str] = Counter()
    for each in action.parts() or (action,):
        url = each.requested_url or page_url
        if visits(each) and (origin := origin_of(url, page_url)):
            origins[origin] += 1
        if each.navigates:
            with contextlib.suppress(ValueError):  # opening it will raise the error
                page_url = urljoin(page_url, url)
    return origins


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
    """Turns at one origin: a semaphore and a moving window of a minute. Visits wait in the order in which they came."""

    def __init__(self, name: str, limits: OriginLimits, send: Send, clock: Clock) -> None:
        self.line = Line[Visit](send, lambda: f"others at {name}")
        self._limits = limits
        self._send = send
        self._clock = clock
        self.rate = MovingWindow(limits.per_minute, clock)
        self._running: dict[Visit, float] = {}
        """The running visits, each with the time by which it must end."""

    @property
    def idle(self) -> bool:
        return not self._running and not self.line and not self.rate

    def enter(self, visit: Visit) -> bool:
        """Start the visit if possible, else put it in line. Return whether it started."""
        if not self.line and self._fits(visit):
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
        """Start the waiting visits that fit now."""
        while (visit := self.line.first()) and self._fits(visit):
            self.line.serve(visit)
            self._admit(visit)
            self._send(visit.event(CallState.RUNNING))
        self.line.tell()

    def runs(self, visit: Visit) -> bool:
        return visit in self._running

    def free_in(self, visit: Visit) -> float:
        """Return the seconds until both limits let the visit pass, if running visits take all their time."""
        due = min(self._running.values(), default=0.0) - self._clock()
        return max(self.rate.free_in(visit.times), due if self._busy else 0.0)

    def due_in(self, visit: Visit) -> float:
        """Return the seconds until time alone lets the visit start; infinite if it waits for another visit to end."""
        return self.rate.free_in(visit.times) or inf

    @property
    def _busy(self) -> bool:
        return 0 < self._limits.at_once <= len(self._running)

    def _fits(self, visit: Visit) -> bool:
        return not self._busy and not self.rate.free_in(visit.times)

    def _admit(self, visit: Visit) -> None:
        self._running[visit] = self._clock() + visit.allowed_s
        self.rate.add(visit.times)
