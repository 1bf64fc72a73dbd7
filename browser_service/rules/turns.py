"""Turns on a page: one call runs, and the others wait behind it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from browser_service.rules.clock import Clock
from browser_service.rules.line import Line, Place, Send
from shared.calls import Call
from shared.errors import BrowseError, Cancelled, TimedOut
from shared.next_calls import next_call


@dataclass(eq=False)
class Turn(Place):
    """A call's turn on a page, or its place in the line for it."""

    call: Call
    action: str
    began_at: float = 0.0
    """When the turn began, in seconds of the queue's clock."""
    part: str = ""
    """Name of the carried action that is running, if the call carries some."""
    throttled: list[str] = field(default_factory=list)
    """Addresses that asked for a pause meanwhile."""

    @property
    def description(self) -> str:
        """Return who has the turn, as others may see it: label and action."""
        doing = f"{self.action}, {self.part}" if self.part else self.action
        return f"{self.call.client_label or 'a client'}: {doing}"


class PageQueue:
    """The queue for a page's turn, which one call at a time has, in the order of the front's numbers."""

    def __init__(self, send: Send, clock: Clock = time.monotonic) -> None:
        self.current: Turn | None = None
        self.line = Line[Turn](send, lambda: self.current.description if self.current else "")
        self._clock = clock

    @property
    def busy(self) -> bool:
        return self.current is not None or len(self.line) > 0

    def enter(self, call: Call, action: str) -> Turn:
        """Return the call's turn: granted at once if the page is free, else granted or refused later."""
        turn = Turn(call.call_id, call.client_id, call, action, seq=call.seq)
        if self.current is None and not self.line.places:  # the usual case is cheap
            self.current, turn.began_at, turn.granted = turn, self._clock(), True
        else:
            self.line.join(turn)
            self._advance()
        return turn

    def leave(self, turn: Turn) -> None:
        """Remove a call that ended or no longer waits, and grant the next turn."""
        if turn is self.current:
            self.current = None
        if self.line.places:
            self.line.leave(turn)
            self._advance()

    def cancel(self, call_id: str) -> bool:
        """Refuse a waiting call with Cancelled, and return whether it was waiting."""
        turn = next((turn for turn in self.line if turn.call_id == call_id), None)
        if turn is None:
            return False
        self.line.leave(turn)
        turn.refuse(Cancelled("The call was cancelled while it waited for its turn; it did not happen."))
        self.line.tell()
        return True

    def refuse(self, make_error: Callable[[Turn], BrowseError]) -> list[Turn]:
        return self.line.refuse(make_error)

    def timeout_error(self, turn: Turn, wait_ms: int) -> TimedOut:
        """Return the error for a turn that did not come within `wait_ms`. It names who has the turn."""
        position = next((n for n, waiting in enumerate(self.line, 1) if waiting is turn), 1)
        current = self.current
        holder = f"{current.description}, {self._clock() - current.began_at:.0f} s" if current else "nobody"
        return TimedOut(
            f"{turn.action} waited {wait_ms} ms for its turn on the page, as number {position} behind {holder}. "
            "It did not happen.",
            hint=f"Repeat it, or work in a page of your own: {next_call('open_page')}.",
            details={"context": {"behind": holder, "position": position, "waitedMs": wait_ms}},
        )

    def _advance(self) -> None:
        if self.current is None and (turn := self.line.first()):
            self.current, turn.began_at = turn, self._clock()
            self.line.serve(turn)
        self.line.tell()
