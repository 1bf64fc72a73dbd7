"""Keeps what calls take of sessions' logins, and opens a closed session again whose logins are to be restored."""

from dataclasses import dataclass

from browse_together.contract.calls import Outcome
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.model import Json, list_at
from browser_service.sessions.kept_logins import KeptLogins
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.sessions.records import Sessions
from browser_service.spine.call import FrontCall, Go, Stage


@dataclass(eq=False)
class TakenLogins(Stage):
    """The logins that a call took from its session, kept for a day. Its reply names the call that puts them back, also
    if it is an error."""

    asks = ("ends_logins", "part_fields")
    sessions: Sessions
    kept: KeptLogins

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome = await go(call)
        session_id = call.address.session_id if outcome.taken_logins else None
        if session_id is None or session_id not in self.sessions:
            return outcome
        state = _together(outcome.taken_logins)
        told = await self.kept.keep(call.client_id, self.sessions.record(session_id), state)
        _tell(outcome, told)
        return outcome


@dataclass(eq=False)
class WithClosedSession(Stage):
    """The session that a call restores the logins of, opened again if it was closed within the last day."""

    asks = ("stored_logins",)
    lifecycle: SessionLifecycle

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        stored, session_id = call.action.stored_logins, call.action.addressed.session
        if stored is not None and stored.restores and session_id:
            await self.lifecycle.reopen_closed(call.caller.ref, session_id, stored.name)
        return await go(call)


def _together(taken: list[Json]) -> Json:
    """Return as one state what several parts of a call took of storage."""
    first, *others = taken
    return {**first, "origins": [origin for each in taken for origin in list_at(each, "origins")]} if others else first


def _tell(outcome: Outcome, told: Json) -> None:
    words = told.pop("words")
    if outcome.error is not None:
        message = f"{outcome.error.message} What it had done already: {words}."
        outcome.error = outcome.error.model_copy(update={"message": message})
    elif outcome.result is not None:
        steps = (step for step in list_at(outcome.result, "steps") if isinstance(step, dict))
        taking = [step for step in steps if ACTIONS[str(step["action"])].ends_logins]
        place = taking[-1] if taking else outcome.result
        place["observed"] = f"{place.get('observed', 'done')}; {words}"
        place |= told
