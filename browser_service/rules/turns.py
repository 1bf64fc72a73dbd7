"""Turns: whose call runs on a page, and who waits behind it."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from shared.calls import Call
from shared.errors import BrowseError, Cancelled, TimedOut
from shared.next_calls import next_call


@dataclass(eq=False)
class Turn:
    """A call's place in the queue of a page."""

    call: Call
    action: str
    part: str = ""
    """Which of the actions that it carries is under way."""
    throttled: list[str] = field(default_factory=list)
    """The addresses that asked for a pause meanwhile."""
    asked_at: float = field(default_factory=time.monotonic)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: BrowseError | None = None

    @property
    def who(self) -> str:
        """As others may read it: label and action."""
        doing = f"{self.action}, {self.part}" if self.part else self.action
        return f"{self.call.client_label or 'a client'}: {doing}"

    @property
    def said(self) -> str:
        """The same, and for how long."""
        return f"{self.who}, {time.monotonic() - self.asked_at:.0f} s"


Moved = Callable[[Turn, int, str], None]


class PageQueue:
    """Our own deque, so that it can be shown, ordered by the front's sequence, and left from the middle."""

    def __init__(self, on_move: Moved) -> None:
        self.current: Turn | None = None
        self._waiting: deque[Turn] = deque()
        self._on_move = on_move

    @property
    def busy(self) -> bool:
        return self.current is not None or bool(self._waiting)

    def cancel(self, call_id: str) -> bool:
        """Take a waiting call out; it did not happen."""
        turn = next((turn for turn in self._waiting if turn.call.call_id == call_id), None)
        if turn is None:
            return False
        turn.refusal = Cancelled("The call was cancelled while it waited for its turn; it did not happen.")
        turn.ready.set()
        return True

    def refuse(self, why: Callable[[Turn], BrowseError]) -> list[Turn]:
        """Send all away who wait, each with an error of its own; they did not happen."""
        waiting = [*self._waiting]
        for turn in waiting:
            turn.refusal = why(turn)
            turn.ready.set()
        return waiting

    @asynccontextmanager
    async def turn(self, call: Call, action: str, wait_ms: int) -> AsyncIterator[bool]:
        """Hold the page's turn; says whether it had to wait. Raises TimedOut, naming who has it, and Cancelled."""
        turn = Turn(call, action)
        waits = self.busy
        await self._wait(turn, wait_ms)
        turn.asked_at = time.monotonic()
        try:
            yield waits
        finally:
            self.current = None
            self._advance()

    async def _wait(self, turn: Turn, wait_ms: int) -> None:
        if self.current is None and not self._waiting:
            self.current = turn
            return
        self._insert(turn)
        try:
            async with asyncio.timeout(wait_ms / 1000):
                await turn.ready.wait()
        except TimeoutError:
            if turn is not self.current:  # else its turn came in the very instant of the deadline
                raise self._too_long(turn, wait_ms) from None
        finally:
            if turn is not self.current:
                self._leave(turn)
        if turn.refusal is not None:
            if turn is self.current:
                self.current = None
                self._advance()
            raise turn.refusal

    def _insert(self, turn: Turn) -> None:
        later = next((i for i, other in enumerate(self._waiting) if other.call.seq > turn.call.seq), len(self._waiting))
        self._waiting.insert(later, turn)
        self._tell_from(later)

    def _leave(self, turn: Turn) -> None:
        if turn in self._waiting:
            place = self._waiting.index(turn)
            self._waiting.remove(turn)
            self._tell_from(place)

    def _advance(self) -> None:
        if self.current is None and self._waiting:
            self.current = self._waiting.popleft()
            self.current.ready.set()
            self._tell_from(0)

    def _tell_from(self, place: int) -> None:
        """Those from a place on have another one than before."""
        for position, turn in enumerate([*self._waiting][place:], place + 1):
            self._on_move(turn, position, self.current.who if self.current else "")

    def _too_long(self, turn: Turn, wait_ms: int) -> TimedOut:
        position = self._waiting.index(turn) + 1 if turn in self._waiting else 1
        holder = self.current.said if self.current else "nobody"
        return TimedOut(
            f"{turn.action} waited {wait_ms} ms for its turn on the page, as number {position} behind {holder}. "
            "It did not happen.",
            hint=f"Repeat it, or work in a page of your own: {next_call('open_page')}.",
            details={"context": {"behind": holder, "position": position, "waitedMs": wait_ms}},
        )
