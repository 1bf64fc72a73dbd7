"""Stores sessions in the journal, encrypted: their records, logins and saved states, and what reopens a closed one."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import Field, JsonValue, ValidationError

from browser_service.security.seal import Seal
from browser_service.sessions.records import SessionRecord
from browser_service.sessions.told import ToldSessions
from browser_service.store.journal import Journal
from shared.data_files import KEY_FILE
from shared.errors import ResourceExhausted, StateNotFound, field_details
from shared.events import StateSaved
from shared.model import Json, Model
from shared.next_calls import next_call
from shared.pages import SessionSpec


class ClosedSession(Model):
    """A closed session's record, its spec with logins and pages, and its saved states."""

    record: SessionRecord
    spec: SessionSpec
    saved: dict[str, Json] = Field(default={}, repr=False)

    def renamed(self, free_name: Callable[[str], str]) -> "ClosedSession":
        """Return the session as it will be reopened. `free_name` replaces names that are taken by now."""
        old_id = self.record.session_id
        session_id = free_name(old_id)
        old_ids = [page.page_id for page in self.spec.pages]
        names = {page_id: session_id if page_id == old_id else free_name(page_id) for page_id in old_ids}
        pages = [
            page.model_copy(
                update={"page_id": names[page.page_id], "session_id": session_id, "revision": page.revision + 1}
            )
            for page in self.spec.pages
        ]
        former = {names[page_id]: state for page_id, state in self.spec.former.items()}
        record = self.record.model_copy(update={"session_id": session_id, "accessed_at": time.time()})
        spec = self.spec.model_copy(update={"session_id": session_id, "pages": pages, "former": former})
        return ClosedSession(record=record, spec=spec, saved=self.saved)

    def reopened_as(self, opened: "ClosedSession") -> str:
        """Word the report that this session is open again, and which of its names have changed."""
        old_id, pages = self.record.session_id, [page.page_id for page in opened.spec.pages]
        names = {old.page_id: new for old, new in zip(self.spec.pages, pages, strict=True)}
        names[old_id] = opened.record.session_id
        renamed = "".join(
            f"; {old} is another's name now, so this is {new}" for old, new in names.items() if old != new
        )
        listed = f"{', '.join(pages) or 'none'}{renamed}"
        return f"session {old_id} is open again, with its logins; its pages load when they are used: {listed}"


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
        self.told = ToldSessions(self.seal)

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

    async def saved(self, session_id: str, name: str) -> Json:
        """Return the state that save_session_state saved under a name. Raises StateNotFound."""
        sealed = await self.journal.saved(session_id, name)
        state = self.seal.open(sealed) if sealed else None
        if not isinstance(state, dict):
            names = await self.journal.saved_names(session_id)
            raise StateNotFound(
                f"Nothing is saved as {name!r} of session {session_id!r}.",
                hint=f"Saved: {', '.join(names)}." if names else f"{next_call('save_session_state')} saves it.",
                details={"sessionId": session_id, **field_details("name", saved=[*names])},
            )
        return state

    async def all_saved(self, session_id: str) -> dict[str, Json]:
        return {name: await self.saved(session_id, name) for name in await self.journal.saved_names(session_id)}

    async def begin(self, record: SessionRecord, state: Json) -> None:
        """Store a new session with its logins, and forget an unreadable one of the same name."""
        session_id = record.session_id
        await self.journal.forget_session(session_id)
        await self.write(record)
        if state and record.persistent:
            await self.journal.keep_state(session_id, self.seal.close(state))
        elif state and self.keeps_all:
            self.told.note_state(StateSaved(session_id=session_id, state=state))

    async def restore(self, closed: ClosedSession) -> None:
        """Store a reopened session with its logins and saved states."""
        session_id, owner = closed.record.session_id, closed.record.owner
        owner_id = owner.client_id if owner is not None else ""
        await self.begin(closed.record, closed.spec.state)
        for name, state in closed.saved.items():
            await self.journal.keep_saved(session_id, name, self.seal.close(state), owner_id)

    def _record(self, sealed: bytes) -> SessionRecord | None:
        try:
            return SessionRecord.model_validate(self.seal.open(sealed))
        except ValidationError:
            return None


def _logins(state: JsonValue) -> Json | None:
    """Return logins in Playwright's form, or None for anything else."""
    return state if isinstance(state, dict) and isinstance(state.get("cookies", []), list) else None
