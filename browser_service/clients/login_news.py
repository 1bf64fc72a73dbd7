"""Watches when the logins of sessions end, and tells a person once that one ends soon or has ended."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from browse_together.contract.events import LoginOver
from browse_together.contract.model import Json, list_at
from browse_together.contract.timestamps import iso
from browser_service.rules.bounded import Bounded
from browser_service.rules.login_cookies import DAY_S, SiteLogin, site_logins

_LOOKS_EVERY_S: Final = 60
_MOST: Final = 5_000

_Key = tuple[str, str]
"""A session and a site."""


class LoginNews:
    """The ends of logins, and which of them a person was told."""

    def __init__(self, tell: Callable[[Json], None], clock: Callable[[], float] = time.time) -> None:
        self._tell, self._clock = tell, clock
        self._logins: dict[str, list[SiteLogin]] = {}
        self._lasting = Bounded[_Key, None](_MOST)
        """The logins that were good for more than a day, so that their last day is news."""
        self._over = Bounded[_Key, float](_MOST)
        """When it was told that a login is over."""

    def reopened(self, session_id: str, state: Json) -> None:
        """Note the logins that a session has from the last start, whose last day may be news."""
        self._note(session_id, state)
        for login in self._logins[session_id]:
            self._lasting[session_id, login.site] = None

    def changed(self, session_id: str, state: Json) -> None:
        """Note the logins that a session has now."""
        self._note(session_id, state)
        self._look_at(session_id)
        if not self._logins[session_id]:
            del self._logins[session_id]

    def over(self, event: LoginOver) -> None:
        """Tell that a page led to where one signs in, at most once a day for each site."""
        key = event.session_id, event.site
        if self._clock() - self._over.get(key, 0) >= DAY_S:
            self._over[key] = self._clock()
            self._say(event.session_id, event.site, "over", "It seems to be over: a page led to where one signs in.")

    def look(self) -> None:
        """Tell of the logins that end within a day, each once."""
        for session_id in self._logins:
            self._look_at(session_id)

    def listed(self) -> list[Json]:
        """List the logins that are known now, with their ends (Unix time), and when one seemed to be over."""
        return [
            {
                "site": login.site,
                "session": session_id,
                "endsAt": login.ends_at,
                "overAt": self._over.get((session_id, login.site)),
            }
            for session_id, logins in self._logins.items()
            for login in logins
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
                self._say(session_id, login.site, "ends", f"It ends at {iso(login.ends_at or 0, 'minutes')}.")

    def _note(self, session_id: str, state: Json) -> None:
        self._logins[session_id] = site_logins([each for each in list_at(state, "cookies") if isinstance(each, dict)])
        for login in self._logins[session_id]:
            if self._lasts(login):
                self._lasting[session_id, login.site] = None

    def _lasts(self, login: SiteLogin) -> bool:
        return login.ends_at is None or login.ends_at - self._clock() > DAY_S

    def _say(self, session_id: str, site: str, state: str, words: str) -> None:
        self._tell({"site": site, "sessionId": session_id, "state": state, "words": words})
