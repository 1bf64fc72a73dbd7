"""A host's events in order, for readers that ask for those after a number."""

import asyncio

from pydantic import JsonValue

from browse_together.contract.calls import AsOf
from browse_together.contract.events import EventBatch, HostEvent, SessionTold, StateSaved
from browse_together.contract.model import Json, weight
from browse_together.contract.userinfo import without_userinfo
from browser_service.rules.bounded import Bounded
from browser_service.waits import wait_until

_KEPT = 4_000
_KEPT_BYTES = 64_000_000
"""The limit for the bytes of logins, which come whole at each change."""


def sendable(result: Json) -> Json:
    """Return the value fit for a message, because pages can make texts that are not Unicode."""
    return {well_formed(key): _sendable(value) for key, value in result.items()}


def address_of(url: str) -> str:
    """Return a request's address for a reply, without a name and a password in it."""
    return well_formed(without_userinfo(url))


def well_formed(text: str) -> str:
    """Replace halves of surrogate pairs, which JavaScript allows and UTF-8 cannot carry, by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sendable(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return sendable(value) if isinstance(value, dict) else value


class EventLog:
    """A bounded log with sequence numbers, read by long polls."""

    def __init__(self, incarnation: str) -> None:
        self._incarnation = incarnation
        self._events = Bounded[int, HostEvent](_KEPT, weigh=_weight, most_weight=_KEPT_BYTES)
        self._seq = 0
        self._grown = asyncio.Event()

    @property
    def as_of(self) -> AsOf:
        return AsOf(incarnation=self._incarnation, seq=self._seq)

    def emit(self, event: HostEvent) -> None:
        self._seq += 1
        self._events[self._seq] = event.model_copy(update={"seq": self._seq})
        self._grown.set()

    async def after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        """Return the events after `seq`, at once if there are some, else within `wait_ms`."""
        if wait_ms and self._seq <= seq:
            await wait_until(lambda: self._seq > seq, self._grown, wait_ms / 1000)
        first = max(seq, self._seq - len(self._events)) + 1  # the oldest go first: after it no number is missing
        found = [self._events[number] for number in range(first, self._seq + 1)[:limit]]
        return EventBatch(
            incarnation=self._incarnation,
            events=found,
            last_seq=found[-1].seq if found else min(seq, self._seq),
            oldest_seq=self._seq - len(self._events) + 1,
        )


def _weight(event: HostEvent) -> int:
    match event:
        case StateSaved():
            return weight(event.state)
        case SessionTold():
            return sum(map(weight, event.former.values()))
    return 0
