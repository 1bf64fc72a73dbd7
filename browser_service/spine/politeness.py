"""Manners towards sites: how much all clients together ask of one origin, in turns that are fair to each of them, and
the pauses that a site asks for."""

import asyncio
import contextlib
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

from browser_service.security.urls import is_private, origin_of
from browser_service.spine.quotas import Clock, Recent, in_words, rate_limited
from browser_service.waits import Cancel
from shared.actions.base import Action
from shared.calls import CallState
from shared.errors import Cancelled, RateLimited
from shared.events import CallMoved, Throttled
from shared.next_calls import next_call

_IDLE_ONES_KEPT = 1_000
_SHORTEST_WAIT_S = 0.05
_UNTOLD_PAUSE_S = 30.0
"""For a 429 that does not say how long."""
_TOO_MANY = 429
_TOLD_AFTER_S = 1.0
"""A shorter wait nobody notices."""
_LONGEST_TIMEOUT_MS = 120_000

Send = Callable[[CallMoved], None]


@dataclass(frozen=True)
class OriginLimits:
    """For each origin, over all clients; 0 is no limit, or no pauses."""

    at_once: int = 8
    per_minute: int = 120
    longest_pause_s: int = 900
    local: bool = False
    """Whether the first two hold for this machine and private networks too, where people test what is their own."""

    def of(self, origin: str) -> "OriginLimits":
        return self if self.local or not is_private(origin) else replace(self, at_once=0, per_minute=0)


@dataclass(eq=False)
class Visit:
    """A call that sends a request to an origin."""

    call_id: str
    client_id: str
    action: str
    allowed_s: float
    times: int = 1
    """How many requests it sends, one after the other."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    place: int = 0


@dataclass(frozen=True)
class Pause:
    until: float
    status: int
    since: float
    met_by: str


class Origin:
    """The turns of one origin. The last quarter of each limit is for clients that had less than their share: whoever
    is alone may have the rest, and whoever comes new always finds room."""

    def __init__(self, name: str, limits: OriginLimits, send: Send, clock: Clock) -> None:
        self.name = name
        self.pause: Pause | None = None
        self._limits = limits
        self._send = send
        self._clock = clock
        self._recent = Recent(clock)
        self._running: dict[Visit, float] = {}
        self._waiting: OrderedDict[str, deque[Visit]] = OrderedDict()

    @property
    def idle(self) -> bool:
        return not self._running and not self._waiting and self.paused_for <= 0 and not self._recent.seen()

    @property
    def paused_for(self) -> float:
        return self.pause.until - self._clock() if self.pause else 0.0

    def enter(self, visit: Visit) -> bool:
        """Whether it may go now; else it waits in the line of its client."""
        if self._fits(visit):
            self._admit(visit)
            return True
        self._waiting.setdefault(visit.client_id, deque()).append(visit)
        self._tell_places()
        return False

    def leave(self, visit: Visit) -> None:
        """It has ended, or waits no longer."""
        self._running.pop(visit, None)
        line = self._waiting.get(visit.client_id)
        if line is not None and visit in line:
            line.remove(visit)
            if not line:
                del self._waiting[visit.client_id]
        self.advance()

    def advance(self) -> None:
        """Let those go that fit now, a client after the other. In a pause nobody goes, and all are woken to hear it."""
        if self.paused_for > 0:
            for visit in self._in_turn():
                visit.ready.set()
            return
        while client_id := next((each for each, line in self._waiting.items() if self._fits(line[0])), None):
            line = self._waiting.pop(client_id)
            visit = line.popleft()
            if line:
                self._waiting[client_id] = line  # behind the other clients
            self._admit(visit)
            self._send(CallMoved(call_id=visit.call_id, client_id=client_id, state=CallState.RUNNING))
        self._tell_places()

    def runs(self, visit: Visit) -> bool:
        return visit in self._running

    def rate_free_in(self, client_id: str, times: int = 1) -> float:
        """Seconds until the rate lets the client pass, if nobody else comes."""
        who = [client for _, client in self._recent.seen()]
        for forgotten in range(len(who)):
            if self._has_room(self._limits.per_minute, who[forgotten:], client_id, times):
                return self._recent.forgets_in(forgotten) if forgotten else 0.0
        return self._recent.forgets_in(len(who)) if who else 0.0

    def free_in(self, visit: Visit) -> float:
        """The same for both limits: a running visit ends when it is due, at the latest."""
        due = min(self._running.values(), default=0.0) - self._clock()
        busy = not self._has_room(self._limits.at_once, [each.client_id for each in self._running], visit.client_id)
        return max(self.rate_free_in(visit.client_id, visit.times), due if busy else 0.0)

    def _fits(self, visit: Visit) -> bool:
        running = [each.client_id for each in self._running]
        seen = [client for _, client in self._recent.seen()]
        at_once, per_minute = self._limits.at_once, self._limits.per_minute
        return self._has_room(at_once, running, visit.client_id) and self._has_room(
            per_minute, seen, visit.client_id, visit.times
        )

    def _has_room(self, limit: int, taken: Sequence[str], client_id: str, times: int = 1) -> bool:
        """One that sends more than there ever is room for goes when it is alone, and pays for all of it."""
        more = min(times, max(1, limit // 2)) - 1
        free = limit - len(taken) - more
        if not limit or free > limit // 4:
            return True
        clients = max(2, len({client_id, *taken, *self._waiting}))  # another may come at any time
        return free > 0 and taken.count(client_id) + more < max(1, limit // clients)

    def _admit(self, visit: Visit) -> None:
        self._running[visit] = self._clock() + visit.allowed_s
        for _ in range(visit.times):
            self._recent.add(visit.client_id)
        visit.ready.set()

    def _in_turn(self) -> list[Visit]:
        """Those who wait, in the order in which they will go if all can."""
        lines = [*self._waiting.values()]
        rounds = max(map(len, lines), default=0)
        return [line[number] for number in range(rounds) for line in lines if number < len(line)]

    def _tell_places(self) -> None:
        for place, visit in enumerate(self._in_turn(), 1):
            if visit.place != place:
                visit.place = place
                behind = f"others at {self.name}"
                self._send(
                    CallMoved(
                        call_id=visit.call_id,
                        client_id=visit.client_id,
                        state=CallState.QUEUED,
                        position=place,
                        behind=behind,
                    )
                )


class Origins:
    """All origins that somebody goes to."""

    def __init__(self, limits: OriginLimits, send: Send, clock: Clock = time.monotonic) -> None:
        self._limits = limits
        self._send = send
        self._clock = clock
        self._origins: dict[str, Origin] = {}

    @asynccontextmanager
    async def turn(self, name: str, visit: Visit, cancel: Cancel) -> AsyncIterator[str]:
        """Hold one of the origin's turns; what to say to a caller who waited for it. Raises RateLimited in a pause, or
        where no turn comes within the time that the call itself has, and Cancelled."""
        origin = self._origin(name)
        self._check_pause(origin, visit)
        if origin.rate_free_in(visit.client_id, visit.times) > visit.allowed_s:
            raise self._full(origin, visit)
        began, said = self._clock(), ""
        try:
            if not origin.enter(visit):
                rate = origin.rate_free_in(visit.client_id, visit.times) > 0
                await self._wait(origin, visit, cancel)
                waited = self._clock() - began
                said = f"{visit.action} waited {waited:.0f} s for its turn at {name}: {self._limit(rate=rate)}."
            yield said if said and waited >= _TOLD_AFTER_S else ""
        finally:
            origin.leave(visit)

    def throttled(self, name: str, event: Throttled) -> str:
        """An origin wants to be left alone for a while; what to tell who met it."""
        asked = retry_after_s(event.retry_after, datetime.now(UTC))
        if asked is None and event.status == _TOO_MANY:
            asked = _UNTOLD_PAUSE_S
        seconds = min(asked or 0.0, float(self._limits.longest_pause_s))
        origin = self._origin(name)
        if seconds <= max(0.0, origin.paused_for):
            return ""
        now = self._clock()
        origin.pause = Pause(now + seconds, event.status, now, event.client_label)
        origin.advance()
        ends = in_words(seconds)
        return (
            f"{name} answered {event.status} and is left alone: goto and fetch there are refused to all until {ends}."
        )

    def advance(self) -> None:
        """Do what the clock has made due, for all that wait."""
        for origin in self._origins.values():
            origin.advance()

    async def _wait(self, origin: Origin, visit: Visit, cancel: Cancel) -> None:
        try:
            async with cancel.within(visit.allowed_s):
                while not visit.ready.is_set():
                    rate = origin.rate_free_in(
                        visit.client_id, visit.times
                    )  # else it is the end of another's that is waited for
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(max(rate, _SHORTEST_WAIT_S) if rate else None):
                            await visit.ready.wait()
                    origin.advance()
        except TimeoutError:
            if cancel.requested:
                raise Cancelled(
                    f"The call was cancelled while it waited for its turn at {origin.name}; it did not happen."
                ) from None
        if not origin.runs(visit):  # its turn may come in the very instant of the deadline
            self._check_pause(origin, visit)
            raise self._full(origin, visit)

    def _check_pause(self, origin: Origin, visit: Visit) -> None:
        pause, seconds = origin.pause, origin.paused_for
        if pause is None or seconds <= 0:
            return
        ago = round(self._clock() - pause.since)
        raise rate_limited(
            f'{origin.name} asked for a pause: it answered {pause.status} to "{pause.met_by or "a page"}" {ago} s ago, '
            f"and nobody's {visit.action} goes there until then. Nothing was sent.",
            seconds,
            f"Repeat {visit.action} then. What is open there can be read meanwhile: "
            f"{next_call('list_pages')}, {next_call('snapshot', ...)}. "
            "Other sites are not concerned.",
            {"limit": "pause", "origin": origin.name, "metBy": pause.met_by, "status": pause.status},
        )

    def _full(self, origin: Origin, visit: Visit) -> RateLimited:
        limits, rate = self._limits, origin.rate_free_in(visit.client_id, visit.times) > 0
        name, value = ("originPerMinute", limits.per_minute) if rate else ("originAtOnce", limits.at_once)
        free_in = origin.free_in(visit)
        return rate_limited(
            f"{visit.action} did not happen: {self._limit(rate=rate)}, and your share of {origin.name} is used up for "
            "longer than it may wait.",
            free_in,
            f"Repeat {visit.action} then{_waiting(free_in) if visit.times == 1 else ''}; read what is open meanwhile: "
            f"{next_call('snapshot', ...)}.",
            {"limit": name, "value": value, "origin": origin.name},
        )

    def _limit(self, *, rate: bool) -> str:
        limits = self._limits
        many, setting = (
            (f"{limits.per_minute} requests a minute", "BROWSE_ORIGIN_PER_MINUTE")
            if rate
            else (f"{limits.at_once} requests at once", "BROWSE_ORIGIN_AT_ONCE")
        )
        return f"all clients together may send a site {many} ({setting})"

    def _origin(self, name: str) -> Origin:
        if name not in self._origins:
            self._drop_idle()
            self._origins[name] = Origin(name, self._limits.of(name), self._send, self._clock)
        return self._origins[name]

    def _drop_idle(self) -> None:
        if len(self._origins) > _IDLE_ONES_KEPT:
            self._origins = {name: origin for name, origin in self._origins.items() if not origin.idle}


def _waiting(seconds: float) -> str:
    """How to have it wait, where any call may wait so long."""
    wanted = math.ceil(seconds + 1) * 1000
    return f', or with "timeout": {wanted}, which lets it wait' if wanted <= _LONGEST_TIMEOUT_MS else ""


def visited(action: Action, page_url: str) -> Counter[str]:
    """How often a call asks each origin for something: by its URLs, or where the page is by then."""
    origins: Counter[str] = Counter()
    for each in action.parts() or (action,):
        url = each.asked_url or page_url
        if each.visits and (origin := origin_of(url, page_url)):
            origins[origin] += 1
        if each.navigates:
            with contextlib.suppress(ValueError):  # a URL that is none leads nowhere, which is said where it is opened
                page_url = urljoin(page_url, url)
    return origins


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After asks for, given as a number or as a date; None where it says neither."""
    text = (header or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now.timestamp()
