"""Remembers which acts seem to have ended a login, to tell clients that are later asked to sign in."""

import re
import time
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.model import Json
from browser_service.rules.bounded import Bounded
from browser_service.rules.login_cookies import is_at, site_logins
from browser_service.rules.window import Clock

_MOST: Final = 50
_MOST_SITES: Final = 1_000
_LOGS_OUT: Final = re.compile(r"(?<![a-z])(?:log|sign)[-_]?(?:out|off)(?![a-z])", re.IGNORECASE)

Cookie = tuple[str, str]
"""Name and domain of a cookie."""


@dataclass(frozen=True)
class LoginEnd:
    page_id: str
    who: str
    """Who did what, as other clients may know it."""
    hosts: frozenset[str]
    how: str
    """What showed it."""
    at: float


@dataclass(eq=False)
class LoginEnds:
    """The ended logins of one session."""

    clock: Clock = time.monotonic
    _ends: deque[LoginEnd] = field(default_factory=lambda: deque(maxlen=_MOST))
    _sites: Bounded[str, None] = field(default_factory=lambda: Bounded(_MOST_SITES))
    """The sites where the session was signed in, and where no act is known to have ended that."""
    _seen: list[Json] = field(default_factory=list)

    def see(self, cookies: list[Json]) -> None:
        """Note where the session is signed in by its cookies."""
        if cookies is not self._seen:
            self._seen = cookies
            for login in site_logins(cookies):
                self._sites[login.site] = None

    def site_of(self, host: str) -> str:
        """Return the site of a host at which the session was signed in; "" if it was not."""
        return next((site for site in self._sites if is_at(host, site)), "")

    def note(self, page_id: str, who: str, host: str, gone: Collection[Cookie], paths: Iterable[str]) -> None:
        """Note an act after which cookies were gone, or that requested a path which looks like a logout."""
        path = next((path for path in paths if _LOGS_OUT.search(path)), "")
        how = [f"it requested {path}"] if path else []
        how += [f"the cookie {min(gone)[0]} was gone after it"] if gone else []
        if how:
            hosts = frozenset([*([host] if path else []), *(domain.lstrip(".") for _, domain in gone)])
            for site in [site for site in self._sites if any(is_at(ended, site) for ended in hosts)]:
                self._sites.pop(site, None)
            self._ends.append(LoginEnd(page_id, who, hosts, " and ".join(how), self.clock()))

    def latest(self, host: str, since: float, besides: str) -> LoginEnd | None:
        """Return the latest login end at a host since a moment, leaving out one page."""
        for end in reversed(self._ends):
            if end.at < since:
                return None
            if end.page_id != besides and any(is_at(host, known) for known in end.hosts):
                return end
        return None
