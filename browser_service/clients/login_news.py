"""Watches when the logins of sessions end, and tells a person once that one ends soon or has ended."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog

from browse_together.contract.background import Background
from browse_together.contract.errors import JournalFailed
from browse_together.contract.events import LoginOver
from browse_together.contract.model import Json, list_at
from browse_together.contract.timestamps import iso
from browser_service.rules.bounded import Bounded
from browser_service.rules.login_cookies import DAY_S, SiteLogin, site_logins
from browser_service.store.tables import MOST_TOLD, ToldLogin, ToldLoginTable

_LOOKS_EVERY_S: Final = 60

_Key = tuple[str, str]
"""A session and a site."""

log = structlog.get_logger(__name__)


class LoginNews:
    """The ends of logins, and which of them a person was told."""

    def __init__(
        self, table: ToldLoginTable, tell: Callable[[Json], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._table, self._tell, self._clock = table, tell, clock
        self._logins: dict[str, list[SiteLogin]] = {}
        self._lasting = Bounded[_Key, None](MOST_TOLD)
        """The logins that were good for more than a day, so that their last day is news."""
        self._told = Bounded[ToldLogin, float](MOST_TOLD)
        """When it was told, over restarts too."""
        self._writing = Background()

    async def open(self) -> None:
        self._told.update(await self._table.all())

    async def close(self) -> None:
        await self._writing.finish()

    async def write_down(self) -> None:
        for told, at in [*self._told.items()]:
            await self._table.keep(told, at)

    def reopened(self, session_id: str, state: Json) -> None:
        """Note the logins that a session has from the last start, whose last day may be news."""
        self._note(session_id, state)
        for login in self._logins[session_id]:
            if self._told_at(ToldLogin(session_id, login.site, "ends")) is None:
                self._lasting[session_id, login.site] = None

    def changed(self, session_id: str, state: Json) -> None:
        """Note the logins that a session has now."""
        self._note(session_id, state)
        self._look_at(session_id)
        if not self._logins[session_id]:
            del self._logins[session_id]

    def over(self, event: LoginOver) -> None:
        """Tell that a page led to where one signs in, at most once a day for each site."""
        told = ToldLogin(event.session_id, event.site, "over")
        if self._told_at(told) is None:
            self._say(told, "It seems to be over: a page led to where one signs in.")

    def look(self) -> None:
        """Tell of the logins that end within a day, each once."""
        for session_id in self._logins:
            self._look_at(session_id)

    def listed(self) -> list[Json]:
        """List the logins that are known now, with their ends (Unix time), and when one seemed to be over within the
        past day."""
        return [
            {"site": login.site, "session": session_id, "endsAt": login.ends_at, "overAt": self._told_at(told)}
            for session_id, logins in self._logins.items()
            for login in logins
            for told in [ToldLogin(session_id, login.site, "over")]
        ]

    async def run(self) -> None:
        """Look each minute, until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_LOOKS_EVERY_S)  # logins end by the clock alone

    def _look_at(self, session_id: str) -> None:
        for login in self._logins[session_id]:
            key = session_id, login.site
            if key in self._lasting and not self._lasts(login):
                del self._lasting[key]
                told = ToldLogin(session_id, login.site, "ends")
                self._say(told, f"It ends at {iso(login.ends_at or 0, 'minutes')}.")

    def _note(self, session_id: str, state: Json) -> None:
        self._logins[session_id] = site_logins([each for each in list_at(state, "cookies") if isinstance(each, dict)])
        for login in self._logins[session_id]:
            if self._lasts(login):
                self._lasting[session_id, login.site] = None

    def _lasts(self, login: SiteLogin) -> bool:
        return login.ends_at is None or login.ends_at - self._clock() > DAY_S

    def _told_at(self, told: ToldLogin) -> float | None:
        """Return when it was told, if that was within a day."""
        at = self._told.get(told, 0)
        return at if self._clock() - at < DAY_S else None

    def _say(self, told: ToldLogin, words: str) -> None:
        self._told[told] = now = self._clock()
        self._writing.spawn(self._write(told, now))
        self._tell({"site": told.site, "sessionId": told.session_id, "state": told.state, "words": words})

    async def _write(self, told: ToldLogin, at: float) -> None:
        try:
            await self._table.keep(told, at)
        except JournalFailed as error:
            log.warning("what was told of a login cannot be written", reason=str(error))
