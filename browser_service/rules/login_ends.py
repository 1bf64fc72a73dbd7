"""Remembers which acts seem to have ended a login, to tell clients that are later asked to sign in."""

import re
import time
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from browser_service.rules.window import Clock

_MOST: Final = 50
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

    def note(self, page_id: str, who: str, host: str, gone: Collection[Cookie], paths: Iterable[str]) -> None:
        """Note an act after which cookies were gone, or that requested a path which looks like a logout."""
        path = next((path for path in paths if _LOGS_OUT.search(path)), "")
        how = [f"it requested {path}"] if path else []
        how += [f"the cookie {min(gone)[0]} was gone after it"] if gone else []
        if how:
            hosts = frozenset([*([host] if path else []), *(domain.lstrip(".") for _, domain in gone)])
            self._ends.append(LoginEnd(page_id, who, hosts, " and ".join(how), self.clock()))

    def latest(self, host: str, since: float, besides: str) -> LoginEnd | None:
        """Return the latest login end at a host since a moment, leaving out one page."""
        for end in reversed(self._ends):
            if end.at < since:
                return None
            if end.page_id != besides and any(f".{host}".endswith(f".{known}") for known in end.hosts):
                return end
        return None
