"""Keeps the outcomes of calls for a call that comes twice."""

import asyncio

from browser_service.rules.bounded import Bounded
from shared.calls import Outcome
from shared.model import weight

_MOST_CALLS = 2_000
_MOST_WEIGHT = 64_000_000

_Reply = asyncio.Future[Outcome]


class OutcomeCache:
    """Keeps replies by callId. The oldest give way if they are many, or many bytes."""

    def __init__(self) -> None:
        self._by_call = Bounded[str, _Reply](
            _MOST_CALLS, weigh=_weight, most_weight=_MOST_WEIGHT, spared=lambda reply: not reply.done()
        )

    def get(self, call_id: str) -> _Reply | None:
        return self._by_call.get(call_id)

    def expect(self, call_id: str) -> _Reply:
        """Return the future of a new call's outcome."""
        reply = self._by_call[call_id] = asyncio.get_running_loop().create_future()
        return reply

    def weigh(self, call_id: str) -> None:
        """Weigh a reply that is set by now."""
        if (reply := self._by_call.get(call_id)) is not None:
            self._by_call[call_id] = reply


def _weight(reply: _Reply) -> int:
    if not reply.done():
        return 0
    outcome = reply.result()
    return weight(outcome.result) + sum(weight(each.body) + weight(each.state) for each in outcome.undo)
