"""A line of calls that wait for the same thing, each of which is told its position."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, TypeVar

from shared.calls import CallState
from shared.errors import BrowseError
from shared.events import CallMoved

Send = Callable[[CallMoved], None]


@dataclass(eq=False)
class Place:
    """A call's place in a line, until it is granted or refused."""

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


P = TypeVar("P", bound=Place)


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
        """Remove a place, and return whether it was in the line."""
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
