"""Stores sessions in the journal, encrypted: their records, logins and saved states."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue, ValidationError

from browse_together.contract.data_files import KEY_FILE
from browse_together.contract.errors import ResourceExhausted, StateNotFound, field_details
from browse_together.contract.events import StateSaved
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.security.seal import Seal
from browser_service.sessions.kept_logins import KeptLogins
from browser_service.sessions.latest_states import LatestStates
from browser_service.sessions.records import SessionRecord
from browser_service.store.journal import Journal

MOST_SAVED: Final = 50
"""Limit of saved states per session; each may have megabytes."""
_NAMED: Final = 5


@dataclass(eq=False)
class SessionVault:
    """The encrypted part of the journal that belongs to sessions."""

    journal: Journal
    seal: Seal
    report: Callable[[str], None]
    keeps_all: bool = False
    """Whether sessions that are not persistent are stored too, because a host may have them beyond a restart."""

    def __post_init__(self) -> None:
        self.latest = LatestStates(self.seal)
        self.kept = KeptLogins(self.journal, self.seal)

    async def records(self) -> dict[str, SessionRecord | None]:
        """Return the stored sessions by name; None for one that cannot be read."""
        await self.journal.forget_ended_sessions()
        return {name: self._record(sealed) for name, sealed in (await self.journal.sessions()).items()}

    async def write(self, record: SessionRecord) -> None:
        """Store the record of a session that may outlive the process; do nothing for others."""
        if record.persistent or self.keeps_all:
            await self.journal.keep_session(record.session_id, self.seal.close(record.model_dump(mode="json")))

    async def logins(self, session_id: str) -> list[Json]:
        """Return a session's readable logins, the newest first. Unreadable ones stay stored, and a person is told."""
        sealed = await self.journal.states(session_id)
        opened = [_logins(self.seal.open(each)) for each in sealed]
        states = [state for state in opened if state is not None]
        if sealed and opened[0] is None:
            await self.journal.set_state_aside(session_id)
            replacement = "those from before are used" if states else "people sign in anew"
            self.report(
                f'The saved logins of session "{session_id}" cannot be read (another key, or damage): {replacement}. '
                f"They are kept, and read again when the service starts with that key ({KEY_FILE})."
            )
        return states

    async def check_room(self, session_id: str, name: str) -> None:
        """Raise ResourceExhausted if the session has the maximum of saved states and `name` would be another."""
        names = await self.journal.saved_names(session_id)
        if name not in names and len(names) >= MOST_SAVED:
            raise ResourceExhausted(
                f"Session {session_id!r} has {MOST_SAVED} saved states, which is the limit.",
                hint=f"Save it under a name that it has, in place of the older: {', '.join(names[:_NAMED])}, ...",
                details={"sessionId": session_id, **field_details("name", saved=[*names])},
            )

    async def saved(self, record: SessionRecord, name: str, client_id: str, *, by_person: bool) -> Json:
        """Return what was saved of a session under a name, by save_session_state or before an act that took it. Raises
        StateNotFound."""
        kept = await self.kept.find(name, client_id, by_person=by_person)
        session_id = record.session_id
        if kept is not None and not kept.fits(record):
            raise StateNotFound(
                f"{name!r} was kept of another session than {session_id!r} is now, and does not go into this one.",
                hint=f"With a free sessionId that session opens again: "
                f"{next_call('restore_session_state', session_id='...', name=name)}.",
                details={"sessionId": session_id, **field_details("sessionId")},
            )
        if kept is not None:
            return kept.state
        sealed = await self.journal.saved(session_id, name)
        state = self.seal.open(sealed) if sealed else None
        if not isinstance(state, dict):
            names = [*await self.journal.saved_names(session_id), *await self.kept.names(client_id)]
            raise StateNotFound(
                f"Nothing is saved as {name!r} of session {session_id!r}.",
                hint=f"Saved: {', '.join(names)}." if names else f"{next_call('save_session_state')} saves it.",
                details={"sessionId": session_id, **field_details("name", saved=[*names])},
            )
        return state

    async def begin(self, record: SessionRecord, state: Json) -> None:
        """Store a new session with its logins, and forget an unreadable one of the same name."""
        session_id = record.session_id
        await self.journal.forget_session(session_id)
        await self.write(record)
        if state and record.persistent:
            await self.journal.keep_state(session_id, self.seal.close(state))
        elif state and self.keeps_all:
            self.latest.note_state(StateSaved(session_id=session_id, state=state))

    def _record(self, sealed: bytes) -> SessionRecord | None:
        try:
            return SessionRecord.model_validate(self.seal.open(sealed))
        except ValidationError:
            return None


def _logins(state: JsonValue) -> Json | None:
    """Return logins in Playwright's form, or None for anything else."""
    return state if isinstance(state, dict) and isinstance(state.get("cookies", []), list) else None
