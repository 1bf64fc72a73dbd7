"""Waits on the event loop, because the rules have no clock: until a place in a line is granted, or the call is
cancelled."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from browse_together.contract.background import AtMost
from browse_together.contract.calls import Call
from browser_service.rules.human import HumanRequest
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.leases import Ownership
from browser_service.rules.turns import PageQueue, Ticket

_SHORTEST_S: Final = 0.05
"""Shortest pause between two looks at the clock."""


class Cancel:
    """Ends whatever runs within its scope at once, without a task that waits for it. A request is final."""

    def __init__(self) -> None:
        self.requested = False
        self.ending = False
        """True if the service ends, and the caller did not ask for the cancellation."""
        self._scopes: set[asyncio.Timeout] = set()
        self._left: dict[asyncio.Timeout, float] = {}

    def request(self, *, ending: bool = False) -> None:
        self.ending = ending and not self.requested
        self.requested = True
        for scope in self._scopes:
            self._end(scope)

    def pause(self) -> None:
        """Stop the call's clock, because the time while a dialog is open is not the call's own."""
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            if (when := scope.when()) is not None and not self.requested and not scope.expired():
                self._left[scope] = when - now
                scope.reschedule(None)

    def resume(self) -> None:
        now = asyncio.get_running_loop().time()
        for scope, remaining_s in self._left.items():
            if scope in self._scopes and not self.requested and not scope.expired():
                scope.reschedule(now + remaining_s)
        self._left.clear()

    @asynccontextmanager
    async def within(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Limit the time of the body. Raises TimeoutError when the time is over or the call is cancelled; `requested`
        tells these apart."""
        async with asyncio.timeout(seconds) as scope:
            self._scopes.add(scope)
            if self.requested:
                self._end(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)

    @staticmethod
    def _end(scope: asyncio.Timeout) -> None:
        if not scope.expired():
            scope.reschedule(asyncio.get_running_loop().time())


async def wait_until(condition: Callable[[], object], changed: asyncio.Event, seconds: float | None = None) -> None:
    """Wait until a condition holds or the time is over; it is checked again whenever `changed` is set."""
    if condition():
        return
    async with AtMost(seconds):
        while not condition():
            changed.clear()
            await changed.wait()


async def until_granted(
    place: Ticket, due_in: Callable[[], float] = lambda: math.inf, advance: Callable[[], None] = lambda: None
) -> None:
    """Wait until a place is granted; the caller limits the time. Raises the place's refusal.

    `due_in` returns in how many seconds time may change something, which `advance` then does."""
    changed = asyncio.Event()
    place.wake = changed.set
    while not place.granted:
        if place.refusal is not None:
            raise place.refusal
        seconds = due_in()
        async with AtMost(max(seconds, _SHORTEST_S) if seconds < math.inf else None):
            await changed.wait()
        changed.clear()
        advance()


@asynccontextmanager
async def turn_on(queue: PageQueue, call: Call, action: str, wait_ms: int) -> AsyncIterator[bool]:
    """Hold a page's turn, and yield whether the call had to wait. Raises TimedOut, which names the holder, or
    Cancelled."""
    turn = queue.enter(call, action)
    waits = not turn.granted
    try:
        try:
            if waits:
                async with asyncio.timeout(wait_ms / 1000):
                    await until_granted(turn)
        except TimeoutError:
            if not turn.granted:  # else its turn came at the very moment of the deadline
                raise queue.timeout_error(turn, wait_ms) from None
        yield waits
    finally:
        queue.leave(turn)


async def until_claimed(page: Ownership, call: Call, agent: str, seconds: float) -> bool:
    """Wait in line for a page; return whether the caller holds it now. Raises PageNotFound if it is closed."""
    place = page.wait(call, agent)
    try:
        async with AtMost(seconds):
            await until_granted(place, page.free_in, page.advance)
    except asyncio.CancelledError:
        if place.granted:
            page.free()
        raise
    finally:
        page.stop_waiting(place)
    return place.granted


async def until_answered(people: HumanRequests, request: HumanRequest, call: Call, seconds: float) -> None:
    """Wait at most `seconds` for a person's answer. If the call is cancelled, withdraw its client's request."""
    changed = asyncio.Event()
    try:
        with people.waiting(request, call, changed.set), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not request.over:
                    await changed.wait()
                    changed.clear()
    except asyncio.CancelledError:
        people.give_up(request, call.client_id)
        raise
