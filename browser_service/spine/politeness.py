"""Limits what all clients together ask of a site, and keeps the pauses that a site asks for."""

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial

from browser_service.rules.bounded import Bounded
from browser_service.rules.origin_turns import OriginLimits, OriginTurns, Visit
from browser_service.rules.quotas import rate_limited, time_after
from browser_service.rules.turns import Send
from browser_service.rules.window import Clock
from browser_service.waits import Cancel, until_granted
from shared.errors import Cancelled, RateLimited
from shared.events import Throttled
from shared.next_calls import next_call

_IDLE_ONES_KEPT = 1_000
_PAUSES_KEPT = 5_000
"""A site may have any number of names. Beyond this many pauses, the oldest are forgotten."""
_DEFAULT_PAUSE_S = 30.0
"""The pause after a 429 that does not say how long."""
_TOO_MANY = 429
_NOTICED_AFTER_S = 1.0
"""The shortest wait that a caller is told of."""
_LONGEST_TIMEOUT_MS = 120_000


@dataclass(frozen=True)
class Pause:
    until: float
    status: int
    since: float
    met_by: str


class Origins:
    """The turns and the pauses of all origins that somebody goes to."""

    def __init__(self, limits: OriginLimits, send: Send, clock: Clock = time.monotonic) -> None:
        self._limits = limits
        self._send = send
        self._clock = clock
        self._turns = Bounded[str, OriginTurns](_IDLE_ONES_KEPT, spared=lambda turns: not turns.idle)
        self._pauses = Bounded[str, Pause](_PAUSES_KEPT)

    @asynccontextmanager
    async def turn(self, name: str, visit: Visit, cancel: Cancel) -> AsyncIterator[str]:
        """Hold one of the origin's turns, and yield a notice if the caller waited. Raises Cancelled, and RateLimited
        during a pause or if no turn comes within the call's own time."""
        if pause := self._pause(name):
            raise self._pause_error(name, pause, visit)
        turns = self._turns_at(name)
        if turns.rate.free_in(visit.times) > visit.allowed_s:
            raise self._full_error(name, turns, visit)
        began, notice = self._clock(), ""
        try:
            if not turns.enter(visit):
                limit = self._limit(rate=turns.rate.free_in(visit.times) > 0)
                await self._wait(name, turns, visit, cancel)
                notice = f"{visit.action} waited {self._clock() - began:.0f} s for its turn at {name}: {limit}."
            yield notice if self._clock() - began >= _NOTICED_AFTER_S else ""
        finally:
            turns.leave(visit)

    def throttled(self, name: str, event: Throttled) -> str:
        """Start the pause that an origin asks for, and refuse whoever waits. Return the notice for the caller."""
        requested_s = retry_after_s(event.retry_after, datetime.now(UTC))
        if requested_s is None and event.status == _TOO_MANY:
            requested_s = _DEFAULT_PAUSE_S
        seconds = min(requested_s or 0.0, float(self._limits.longest_pause_s))
        now, current = self._clock(), self._pause(name)
        if seconds <= (current.until - now if current else 0.0):
            return ""
        pause = self._pauses[name] = Pause(now + seconds, event.status, now, event.client_label)
        self._turns_at(name).line.refuse(lambda visit: self._pause_error(name, pause, visit))
        ends = time_after(seconds)
        return (
            f"{name} answered {event.status} and is left alone: goto and fetch there are refused to all until {ends}."
        )

    async def _wait(self, name: str, turns: OriginTurns, visit: Visit, cancel: Cancel) -> None:
        try:
            async with cancel.within(visit.allowed_s):
                await until_granted(visit, partial(turns.due_in, visit), turns.advance)
        except TimeoutError:
            if cancel.requested:
                raise Cancelled(
                    f"The call was cancelled while it waited for its turn at {name}; it did not happen."
                ) from None
            if not visit.granted:  # the turn may have come at the very moment of the deadline
                raise self._full_error(name, turns, visit) from None

    def _pause(self, name: str) -> Pause | None:
        pause = self._pauses.get(name)
        return pause if pause is not None and pause.until > self._clock() else None

    def _pause_error(self, name: str, pause: Pause, visit: Visit) -> RateLimited:
        now = self._clock()
        return rate_limited(
            f'{name} asked for a pause: it answered {pause.status} to "{pause.met_by or "a page"}" '
            f"{round(now - pause.since)} s ago, and nobody's {visit.action} goes there until then. Nothing was sent.",
            pause.until - now,
            f"Repeat {visit.action} then. What is open there can be read meanwhile: "
            f"{next_call('list_pages')}, {next_call('snapshot', ...)}. "
            "Other sites are not concerned.",
            {"limit": "pause", "origin": name, "metBy": pause.met_by, "status": pause.status},
        )

    def _full_error(self, name: str, turns: OriginTurns, visit: Visit) -> RateLimited:
        limits, rate = self._limits, turns.rate.free_in(visit.times) > 0
        limit, value = ("originPerMinute", limits.per_minute) if rate else ("originAtOnce", limits.at_once)
        free_in = turns.free_in(visit)
        return rate_limited(
            f"{visit.action} did not happen: {self._limit(rate=rate)}, and {name} has no room for longer than it may "
            "wait.",
            free_in,
            f"Repeat {visit.action} then{_timeout_hint(free_in) if visit.times == 1 else ''}; "
            f"read what is open meanwhile: {next_call('snapshot', ...)}.",
            {"limit": limit, "value": value, "origin": name},
        )

    def _limit(self, *, rate: bool) -> str:
        many = f"{self._limits.at_once} requests at once"
        if rate:
            many = f"{self._limits.per_minute} requests a minute"
        return f"all clients together may send a site {many}"

    def _turns_at(self, name: str) -> OriginTurns:
        if name not in self._turns:
            self._turns[name] = OriginTurns(name, self._limits.of(name), self._send, self._clock)
        return self._turns[name]


def _timeout_hint(seconds: float) -> str:
    """Return a hint to wait by a longer `timeout`, if calls may wait that long."""
    timeout_ms = math.ceil(seconds + 1) * 1000
    return f', or with "timeout": {timeout_ms}, which lets it wait' if timeout_ms <= _LONGEST_TIMEOUT_MS else ""


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; None if it is neither."""
    text = (header or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()
