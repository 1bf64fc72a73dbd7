"""Keeps the acts that can be undone, for ten minutes in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from browser_service.rules.clock import Clock
from browser_service.security.auth import Identity
from browser_service.sessions.records import Sessions
from shared.calls import Outcome, Undoable
from shared.model import Json, weight
from shared.next_calls import next_call

_KEPT_S: Final = 600
_MOST: Final = 30
_MOST_BYTES: Final = 10_000_000
_MOST_OF_ALL: Final = 100_000_000
_SHORT: Final = 8


@dataclass(eq=False)
class UndoableCall:
    """Is a call that can be undone."""

    who: Identity
    call_id: str
    action: str
    steps: list[Undoable]
    ends_at: float
    owner: str | None
    """Is the client whose page or session it was done to, as it was then: a later one of its name may be another's."""
    at: str = field(default_factory=lambda: f"{datetime.now().astimezone():%H:%M:%S}")
    until: str = field(default_factory=lambda: f"{datetime.now().astimezone() + timedelta(seconds=_KEPT_S):%H:%M}")

    @property
    def size(self) -> int:
        return sum(weight(step.body) + weight(step.state) for step in self.steps)

    def to_listing(self, client_id: str) -> Json:
        by: Json = {} if client_id == self.who.client_id else {"by": self.who.label}
        what = "; ".join(step.what for step in self.steps)
        return {"callId": self.call_id, "action": self.action, "what": what, "until": self.until, **by}


class UndoStore:
    """Keeps the calls that can be undone, the latest last, bounded for each client and in all."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._kept: list[UndoableCall] = []

    def keep(self, who: Identity, call_id: str, action: str, outcome: Outcome) -> Outcome:
        """Remember what a call did; return its outcome, with the call that undoes it if something was lost."""
        if not outcome.undo:
            return outcome
        page, session_id = outcome.page, outcome.undo[0].session_id
        owner = page.holder_id if page is not None else self._sessions.owner(session_id or "")
        kept = UndoableCall(who, call_id, action, outcome.undo, self._clock() + _KEPT_S, owner)
        stripped = outcome.model_copy(update={"undo": []})
        if kept.size > _MOST_BYTES:
            return stripped
        self._kept.append(kept)
        self._trim(who.client_id)
        if outcome.result is None or not any(step.lost for step in kept.steps):
            return stripped
        way = f"{next_call('undo', call_id=self.short(kept))} until {kept.until}"
        return stripped.model_copy(update={"result": {**outcome.result, "undo": way}})

    def all(self) -> Iterator[UndoableCall]:
        """Yield what can be undone, the latest first."""
        now = self._clock()
        self._kept = [kept for kept in self._kept if kept.ends_at > now]
        return reversed([*self._kept])

    def take(self, kept: UndoableCall) -> bool:
        """Take a call out, so that nobody else undoes it; return whether it was there."""
        if kept not in self._kept:
            return False
        self._kept.remove(kept)
        return True

    def put_back(self, kept: UndoableCall) -> None:
        """Put back a call that was not undone, or not all of it."""
        self._kept.append(kept)
        self._kept.sort(key=lambda each: each.ends_at)

    def _trim(self, client_id: str) -> None:
        of_client = [kept for kept in self.all() if kept.who.client_id == client_id]
        for kepts, most, most_bytes in ((of_client, _MOST, _MOST_BYTES), ([*self.all()], 10_000, _MOST_OF_ALL)):
            size = 0
            for number, kept in enumerate(kepts, 1):
                size += kept.size
                if number > most or size > most_bytes:
                    self.take(kept)

    def short(self, kept: UndoableCall) -> str:
        """Return as much of its id as tells it from the others of its client."""
        others = [each.call_id for each in self._kept if each.who.client_id == kept.who.client_id and each is not kept]
        lengths = range(_SHORT, len(kept.call_id))
        fits = (n for n in lengths if not any(other.startswith(kept.call_id[:n]) for other in others))
        return kept.call_id[: next(fits, len(kept.call_id))]
