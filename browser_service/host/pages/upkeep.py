"""Keeps what sessions have from being lost: logins are saved now and then, and a host elsewhere tells the rest."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from browse_together.contract.events import SessionTold
from browser_service.host.pages.entry import PageEntry, pages_of
from browser_service.host.record.record import Emit
from browser_service.host.record.saved_place import remember
from browser_service.host.sessions.session import SessionEntry

_TELLS_EVERY_S: Final = 5.0


@dataclass(eq=False)
class Keeping:
    """The upkeep of what would go with a host's process."""

    sessions: Mapping[str, SessionEntry]
    pages: Mapping[str, PageEntry]
    emit: Emit

    def __post_init__(self) -> None:
        self._told: dict[str, SessionTold] = {}
        """What was last told of each session besides its pages."""
        self._told_at: dict[str, float] = {}
        """When each page had last been used as it was told."""

    async def save_now_and_then(self, every_s: float) -> None:
        """Save logins now and then: scripts change what a page stores without any act or response that would show
        it."""
        while True:
            await asyncio.sleep(every_s)  # scripts store things without an event
            for session in [*self.sessions.values()]:
                if session.live and any(entry.record.live for entry in pages_of(session, self.pages)):
                    await session.logins.save()

    async def tell_now_and_then(self) -> None:
        """Tell the front what it needs to open sessions elsewhere, should this host be lost."""
        while True:
            await asyncio.sleep(_TELLS_EVERY_S)  # so that many changes in a row are told once
            await self.tell()

    async def tell(self) -> None:
        """Tell what has changed since the last time: the settings of sessions, and the pages that were used."""
        self._told = {name: told for name, told in self._told.items() if name in self.sessions}
        self._told_at = {name: told_at for name, told_at in self._told_at.items() if name in self.pages}
        for session in [*self.sessions.values()]:
            spec = session.spec
            own = {"headers": spec.headers, "init_scripts": spec.init_scripts, "permissions": spec.permissions}
            told = SessionTold(session_id=session.session_id, **own)
            if self._told.get(session.session_id) != told:
                self.emit(told)
            self._told[session.session_id] = told
            for entry in pages_of(session, self.pages):
                await self._tell_page(entry, told)

    async def _tell_page(self, entry: PageEntry, told: SessionTold) -> None:
        used_at = entry.record.used_at
        if self._told_at.get(entry.page_id) != used_at and not entry.queue.busy:
            self._told_at[entry.page_id] = used_at
            former = await remember(entry.record, entry.settings, stays_open=True)
            self.emit(told.model_copy(update={"former": {entry.page_id: former}}))

    def tell_again(self, session: SessionEntry) -> None:
        """Tell all of a session anew, because the front may know nothing of it."""
        self._told.pop(session.session_id, None)
        session.keep_logins(session.logins.saved)
        for entry in pages_of(session, self.pages):
            self._told_at.pop(entry.page_id, None)
            entry.record.tell_changed()
