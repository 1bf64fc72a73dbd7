"""Remembers, in memory for ten minutes, how to undo acts."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock
from browser_service.security.auth import Identity
from browser_service.sessions.records import Sessions
from browser_service.spine.call import FrontCall, Go, Stage
from shared.calls import Outcome, Undoable
from shared.model import Json, weight
from shared.next_calls import next_call

_KEPT_S: Final = 600
_MOST_CALLS: Final = 30
_MOST_BYTES: Final = 10_000_000
_MOST_CLIENTS: Final = 1_000
_MOST_BYTES_OF_ALL: Final = 100_000_000
_SHORT_ID: Final = 8


@dataclass(eq=False)
class UndoableCall:
    """A call that can be undone."""

    number: int
    """Grows with each such call."""
    caller: Identity
    call_id: str
    action: str
    steps: list[Undoable]
    owner: str | None
    """Client that owned the affected page or session at that time; a later one with its name may be another's."""
    is_taken: bool = False
    """Whether another call is undoing it."""
    at: str = field(default_factory=lambda: f"{datetime.now().astimezone():%H:%M:%S}")
    until: str = field(default_factory=lambda: f"{datetime.now().astimezone() + timedelta(seconds=_KEPT_S):%H:%M}")

    @property
    def size(self) -> int:
        return sum(weight(step.body) + weight(step.state) for step in self.steps)

    def to_listing(self, client_id: str) -> Json:
        by: Json = {} if client_id == self.caller.client_id else {"by": self.caller.label}
        what = "; ".join(step.what for step in self.steps)
        return {"callId": self.call_id, "action": self.action, "what": what, "until": self.until, **by}


_CallsOfClient = Bounded[int, UndoableCall]


class UndoStore(Stage):
    """The calls that can be undone: the latest of each client, for the clients that acted last."""

    asks = ("undone_by", "part_fields")

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._numbers = itertools.count()
        self._calls = Bounded[str, _CallsOfClient](
            _MOST_CLIENTS,
            weigh=lambda calls: calls.weight,
            most_weight=_MOST_BYTES_OF_ALL,
            ttl_s=_KEPT_S,
            clock=clock,
        )

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome = await go(call)
        return self.keep(call.caller, call.call_id, call.action.name(), outcome) if outcome.undo else outcome

    def keep(self, caller: Identity, call_id: str, action: str, outcome: Outcome) -> Outcome:
        """Remember how to undo a call. Return its outcome, with the undo call added if something was lost."""
        if not outcome.undo:
            return outcome
        page, session_id = outcome.page, outcome.undo[0].session_id
        owner = page.holder_id if page is not None else self._sessions.owner(session_id or "")
        call = UndoableCall(next(self._numbers), caller, call_id, action, outcome.undo, owner)
        outcome = outcome.model_copy(update={"undo": []})
        if call.size > _MOST_BYTES:
            return outcome
        self._add(call)
        if outcome.result is None or not any(step.lost for step in call.steps):
            return outcome
        way_back = f"{next_call('undo', call_id=self.short_id(call))} until {call.until}"
        return outcome.model_copy(update={"result": {**outcome.result, "undo": way_back}})

    def latest_first(self) -> list[UndoableCall]:
        """Return what can be undone, the latest first."""
        listed = [call for calls in self._calls.values() for call in _current(calls) if not call.is_taken]
        return sorted(listed, key=lambda call: call.number, reverse=True)

    @contextmanager
    def undoing(self, call: UndoableCall) -> Iterator[bool]:
        """Reserve a call's undoing, and yield False if another call is undoing it or nothing is left to undo.
        Afterwards, forget the call if all its steps are undone."""
        if call.is_taken or not call.steps:
            yield False
            return
        call.is_taken = True
        try:
            yield True
        finally:
            call.is_taken = False
            if not call.steps and (calls := self._calls.get(call.caller.client_id)) is not None:
                calls.pop(call.number, None)

    def short_id(self, call: UndoableCall) -> str:
        """Return the shortest beginning of the id, of 8 characters or more, that tells it from its client's others."""
        of_client = (each for each in self.latest_first() if each.caller.client_id == call.caller.client_id)
        other_ids = [each.call_id for each in of_client if each is not call]
        lengths = range(_SHORT_ID, len(call.call_id))
        fits = (n for n in lengths if not any(other_id.startswith(call.call_id[:n]) for other_id in other_ids))
        return call.call_id[: next(fits, len(call.call_id))]

    def _add(self, call: UndoableCall) -> None:
        calls = self._calls.get(call.caller.client_id)
        if calls is None:
            calls = _CallsOfClient(
                _MOST_CALLS,
                weigh=lambda call: call.size,
                most_weight=_MOST_BYTES,
                ttl_s=_KEPT_S,
                clock=self._clock,
            )
        calls[call.number] = call
        self._calls[call.caller.client_id] = calls  # set again, to update its weight


def _current(calls: _CallsOfClient) -> Iterable[UndoableCall]:
    calls.trim()
    return calls.values()
