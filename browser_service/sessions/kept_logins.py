"""Keeps for a day, encrypted, what acts took of sessions' logins, each under a name that the act's reply gives."""

import secrets
import time
from typing import Final

from pydantic import Field, ValidationError

from browse_together.contract.errors import JournalFailed
from browse_together.contract.model import Json, Model
from browse_together.contract.next_calls import next_call
from browser_service.security.seal import Seal
from browser_service.sessions.records import SessionRecord
from browser_service.store.journal import Journal
from browser_service.store.tables import KeptLoginsTable

KEPT_S: Final = 86_400
MOST_BYTES_OF_CLIENT: Final = 20_000_000


class Kept(Model):
    """Logins that an act took, and the session as it was then."""

    record: SessionRecord
    state: Json = Field(repr=False)

    @property
    def owner_id(self) -> str | None:
        return self.record.owner.client_id if self.record.owner is not None else None

    def fits(self, record: SessionRecord) -> bool:
        """Return whether they may go into a session: into theirs, or into another one of the same owner that shows and
        sends no more of them."""
        if self.owner_id is None or record.owner is None:
            return self.owner_id == (record.owner and record.owner.client_id) and self._is_same(record)
        is_as_strict = record.guarded >= self.record.guarded and record.shared_login >= self.record.shared_login
        return self.owner_id == record.owner.client_id and is_as_strict

    def _is_same(self, record: SessionRecord) -> bool:
        return record.session_id == self.record.session_id


def has_logins(state: Json) -> bool:
    """Return whether a session's saved state has anything that a login could be."""
    return any(state.values())


class KeptLogins:
    """The logins that acts took within the last day. Those of one client, and of all, have limited number and size: the
    oldest go first."""

    def __init__(self, journal: Journal, seal: Seal) -> None:
        self._table, self._seal = KeptLoginsTable(journal), seal

    async def keep(self, client_id: str, record: SessionRecord, state: Json) -> Json:
        """Keep what a client's act took. Return what its reply says: `kept`, the name, if it is kept, and `words`."""
        sealed = self._seal.close(Kept(record=record, state=state).model_dump(mode="json"))
        if len(sealed) > MOST_BYTES_OF_CLIENT:
            return {"words": f"its logins are NOT kept: sealed they have {len(sealed):,} bytes, which is too much"}
        name = f"{record.session_id[:40]}-{secrets.token_hex(6)}"
        try:
            await self._table.keep(name, client_id, sealed, MOST_BYTES_OF_CLIENT)
        except JournalFailed as error:
            return {"words": f"its logins are NOT kept: {error}"}
        back = next_call("restore_session_state", session_id=record.session_id, name=name)
        return {"kept": name, "words": f"its logins from before are kept for a day: {back}"}

    async def find(self, name: str, client_id: str, *, by_person: bool = False) -> Kept | None:
        """Return what is kept under a name, if it may be this caller's: it acted, owned the session, or is the person
        whose account it is."""
        await self.forget_old()
        actor_id, sealed = await self._table.find(name)
        kept = self._open(sealed)
        is_theirs = kept is not None and (by_person or client_id in {actor_id, kept.owner_id})
        return kept if is_theirs else None

    async def names(self, client_id: str) -> list[str]:
        """Return the names of what a client's acts took, the latest first."""
        await self.forget_old()
        return await self._table.names(client_id)

    async def forget_old(self) -> None:
        """Forget what was taken more than a day ago."""
        await self._table.forget(time.time() - KEPT_S)

    def _open(self, sealed: bytes) -> Kept | None:
        try:
            return Kept.model_validate(self._seal.open(sealed)) if sealed else None
        except ValidationError:
            return None
