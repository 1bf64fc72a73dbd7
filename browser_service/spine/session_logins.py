"""Checks that logins which calls save are saved, keeps those that calls take, and opens closed sessions for those that
are to be restored."""

from dataclasses import dataclass

from browse_together.contract.calls import Outcome
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError, Forbidden, JournalFailed, field_details
from browse_together.contract.model import Json, list_at
from browse_together.contract.next_calls import next_call
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.spine.call import FrontCall, Go
from browser_service.spine.host_events import HostEvents


@dataclass(eq=False)
class SessionLogins:
    """What calls do with the logins of sessions, besides what hosts do."""

    lifecycle: SessionLifecycle
    events: HostEvents

    async def restored(self, call: FrontCall, go: Go) -> Outcome:
        """Open the session again that a call restores the logins of, if it was closed within the last day."""
        stored, session_id = call.action.stored_logins, call.action.addressed.session
        if stored is not None and stored.restores and session_id:
            await self.lifecycle.reopen_closed(call.caller.ref, session_id, stored.name)
        return await go(call)

    async def saved(self, call: FrontCall, go: Go) -> Outcome:
        """Check that the logins which a call saved are on disk, and that no other client had saved some under that
        name. Else the call has failed."""
        outcome, stored = await go(call), call.action.stored_logins
        if stored is None or stored.restores or outcome.error is not None:
            return outcome
        session_id, name = call.action.addressed.session or "", stored.name
        error: BrowseError | None = None
        if self.events.owes_logins(session_id, name):
            error = JournalFailed(
                f"The logins of {session_id!r} could not be saved because nothing can be written to the disk."
            )
        elif await self.events.journal.saved_by(session_id, name) not in {"", call.client_id}:
            error = Forbidden(
                f"Another client has saved logins of {session_id!r} as {name!r}, which stay as they are. Nothing was "
                "saved.",
                hint=f"Take another name: {next_call('save_session_state', session_id=session_id, name='...')}.",
                details=field_details("name"),
            )
        return outcome if error is None else Outcome(call_id=call.call_id, error=error.body())

    async def taken(self, call: FrontCall, go: Go) -> Outcome:
        """Keep the logins that a call took from its session for a day. Its reply names the call that puts them back,
        also if it is an error."""
        outcome, sessions = await go(call), self.lifecycle.directory.sessions
        session_id = call.address.session_id if outcome.taken_logins else None
        if session_id is None or session_id not in sessions:
            return outcome
        state = _together(outcome.taken_logins)
        words = await self.lifecycle.vault.kept.keep(call.client_id, sessions.record(session_id), state)
        _tell(outcome, words)
        return outcome


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
