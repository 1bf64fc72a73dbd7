"""A line of calls that wait for the same thing, each of which is told its position."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
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
        """Return the event that tells the caller its position."""
        position = self.position if state is CallState.QUEUED else 0
        return CallMoved(call_id=self.call_id, client_id=self.client_id, state=state, position=position, behind=behind)


P = TypeVar("P", bound=Place)


@dataclass(eq=False)
class Line(Generic[P]):
    """A queue. A fair line serves its clients in turn, one call of each.

    `behind` names what the first in line waits for.
    """

    send: Send
    behind: Callable[[], str]
    fair: bool = False

    def __post_init__(self) -> None:
        self._queues: dict[str, deque[P]] = {}

    def __iter__(self) -> Iterator[P]:
        """Iterate over the places in the order in which they will be served if nobody else comes."""
        queues = [*self._queues.values()]
        rounds = max(map(len, queues), default=0)
        return (queue[number] for number in range(rounds) for queue in queues if number < len(queue))

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    @property
    def clients(self) -> set[str]:
        return {place.client_id for place in self}

    def join(self, place: P) -> None:
        queue = self._queues.setdefault(self._key(place), deque())
        queue.insert(next((i for i, queued in enumerate(queue) if queued.seq > place.seq), len(queue)), place)

    def leave(self, place: P) -> bool:
        """Remove a place, and return whether it was in the line."""
        queue = self._queues.get(self._key(place), deque[P]())
        if place not in queue:
            return False
        queue.remove(place)
        if not queue:
            del self._queues[self._key(place)]
        return True

    def first(self, fits: Callable[[P], bool] = lambda _: True) -> P | None:
        """Return the first place that fits. Of each queue, only the first call can go."""
        return next((queue[0] for queue in self._queues.values() if fits(queue[0])), None)

    def serve(self, place: P) -> None:
        """Grant a place. In a fair line, its client's other calls move behind those of other clients."""
        self.leave(place)
        key = self._key(place)
        if key in self._queues:
            self._queues[key] = self._queues.pop(key)
        place.grant()

    def refuse(self, make_error: Callable[[P], BrowseError]) -> list[P]:
        """Refuse all places, each with the error that `make_error` returns, and return them."""
        waiting = [*self]
        self._queues.clear()
        for place in waiting:
            place.refuse(make_error(place))
        return waiting

    def wake(self) -> None:
        """Wake all waiting calls, because what they wait for has changed."""
        for place in self:
            place.wake()

    def tell(self) -> None:
        """Send an event to each call whose position has changed."""
        for position, place in enumerate(self, 1):
            if place.position != position:
                place.position = position
                self.send(place.event(CallState.QUEUED, self.behind()))

    def _key(self, place: P) -> str:
        return place.client_id if self.fair else ""
