"""Lines of calls: one runs on a page, and the others wait behind it, each of which is told its position."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, TypeVar

from browse_together.contract.calls import Call, CallState
from browse_together.contract.errors import BrowseError, Cancelled, TimedOut
from browse_together.contract.events import CallMoved
from browse_together.contract.next_calls import next_call
from browser_service.rules.window import Clock

Send = Callable[[CallMoved], None]


@dataclass(eq=False)
class Ticket:
    """What a call waits with in a line, until it is granted or refused."""

    call_id: str
    client_id: str
    _: KW_ONLY
    seq: int = 0
    """The front's number of the call. An earlier call stands before a later one, whichever arrives first."""
    position: int = 0
    """The position that the caller was last told, counted from 1."""
    granted: bool = False
    refusal: BrowseError | None = None
    wake: Callable[[], None] = lambda: None
    """Called when the place is granted or refused; set by whoever waits."""

    def grant(self) -> None:
        self.granted = True
        self.wake()

    def refuse(self, error: BrowseError) -> None:
        self.refusal = error
        self.wake()

    def event(self, state: CallState, behind: str = "") -> CallMoved:
        """Return the event that tells the caller its place."""
        position = self.position if state is CallState.QUEUED else 0
        return CallMoved(call_id=self.call_id, client_id=self.client_id, state=state, position=position, behind=behind)


P = TypeVar("P", bound=Ticket)


@dataclass(eq=False)
class Line(Generic[P]):
    """A line that serves first who came first. `behind` names what the first in line waits for."""

    send: Send
    behind: Callable[[], str]
    places: deque[P] = field(default_factory=deque)
    """The places in the order in which they will be served."""

    def __iter__(self) -> Iterator[P]:
        """Iterate over the places in the order in which they will be served."""
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def join(self, place: P) -> None:
        at = next((at for at, waiting in enumerate(self.places) if waiting.seq > place.seq), len(self.places))
        self.places.insert(at, place)

    def leave(self, place: P) -> bool:
        if place not in self.places:
            return False
        self.places.remove(place)
        return True

    def first(self) -> P | None:
        return self.places[0] if self.places else None

    def serve(self, place: P) -> None:
        self.leave(place)
        place.grant()

    def refuse(self, make_error: Callable[[P], BrowseError]) -> list[P]:
        """Refuse all places, each with the error that `make_error` returns, and return them."""
        waiting = [*self.places]
        self.places.clear()
        for place in waiting:
            place.refuse(make_error(place))
        return waiting

    def wake(self) -> None:
        """Wake all waiting calls, because what they wait for has changed."""
        for place in self.places:
            place.wake()

    def tell(self) -> None:
        """Send an event to each call whose position has changed."""
        for position, place in enumerate(self.places, 1):
            if place.position != position:
                place.position = position
                self.send(place.event(CallState.QUEUED, self.behind()))


@dataclass(eq=False)
class Turn(Ticket):
    """A call's turn on a page, or its place in the line for it."""

    call: Call
    action: str
    began_at: float = 0.0
    part: str = ""
    """Name of the carried action that is running, if the call carries some."""

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
