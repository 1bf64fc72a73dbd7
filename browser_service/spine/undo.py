"""Keeps the acts that can be undone, for ten minutes in memory."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.rules.clock import Clock
from browser_service.security.auth import Identity
from browser_service.sessions.records import Sessions
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
    """Is a call that can be undone."""

    number: int
    """Counts such calls: a later one has a higher number."""
    caller: Identity
    call_id: str
    action: str
    steps: list[Undoable]
    owner: str | None
    """Is the client whose page or session it was done to, as it was then: a later one of its name may be another's."""
    is_taken: bool = False
    """Is true while another call undoes it."""
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


class UndoStore:
    """Keeps the calls that can be undone: the latest of each client, and of all clients those that acted last."""

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

    def keep(self, caller: Identity, call_id: str, action: str, outcome: Outcome) -> Outcome:
        """Remember what a call did; return its outcome, with the call that undoes it if something was lost."""
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
        """Return what can be undone."""
        listed = [call for calls in self._calls.values() for call in _current(calls) if not call.is_taken]
        return sorted(listed, key=lambda call: call.number, reverse=True)

    @contextmanager
    def undoing(self, call: UndoableCall) -> Iterator[bool]:
        """Keep others from undoing a call, and yield whether nobody does so already. Forgets a call whose steps are
        all undone then."""
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
        """Return as much of its id as tells it from the others of its client."""
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
        self._calls[call.caller.client_id] = calls  # weighs them anew


def _current(calls: _CallsOfClient) -> Iterable[UndoableCall]:
    calls.trim()
    return calls.values()
