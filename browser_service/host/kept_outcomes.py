"""What was replied to calls: kept for a call that comes twice."""

import asyncio
import itertools
from collections import OrderedDict

from shared.calls import Outcome
from shared.model import weight

_REMEMBERED = 2_000
_REMEMBERED_WEIGHT = 64_000_000
_FORGOTTEN_AT_ONCE = 100


class Replies:
    """By callId; the oldest give way where they are many, or many bytes."""

    def __init__(self) -> None:
        self._by_call: OrderedDict[str, asyncio.Future[Outcome]] = OrderedDict()
        self._weight = 0

    def get(self, call_id: str) -> "asyncio.Future[Outcome] | None":
        return self._by_call.get(call_id)

    def expect(self, call_id: str) -> "asyncio.Future[Outcome]":
        reply = self._by_call[call_id] = asyncio.get_running_loop().create_future()
        return reply

    def given(self, outcome: Outcome) -> None:
        self._weight += _weight(outcome)
        for call_id, reply in [*itertools.islice(self._by_call.items(), _FORGOTTEN_AT_ONCE)]:
            if len(self._by_call) <= _REMEMBERED and self._weight <= _REMEMBERED_WEIGHT:
                break
            if reply.done():
                self._weight -= _weight(reply.result())
                del self._by_call[call_id]


def _weight(outcome: Outcome) -> int:
    return weight(outcome.result) + sum(weight(each.body) + weight(each.state) for each in outcome.undo)
