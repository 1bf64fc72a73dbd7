"""Remembers which hosts bind a session's logins to this browser (device bound session credentials)."""

from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Response

from browse_together.contract.model import Json, list_at, object_at
from browser_service.host.network.tab_events import TabListener
from browser_service.rules.bounded import Bounded
from browser_service.rules.login_cookies import bound_words, is_bound
from browser_service.security.http_logins import BOUND

_HEADERS: Final = frozenset(
    {
        "sec-session-registration",
        "secure-session-registration",
        "sec-session-challenge",
        "secure-session-challenge",
        "sec-session-google-registration-list",
        "sec-session-google-challenge",
    }
)
"""Headers by which a site makes a login that needs a key of this browser, and asks for a proof of it: Chromium heeds
those with `Secure` now (156; `Sec` was the name of its trials), and Google has its own. The proofs themselves are sent
by the browser, and are no requests of a page."""
_MOST: Final = 200


class BoundLogins(TabListener):
    """The hosts whose answers had such headers, and those of which Chromium tells. Their logins end soon wherever only
    their cookies are."""

    def __init__(self, state: Json, on_change: Callable[[], None]) -> None:
        self._hosts = Bounded[str, None](_MOST)
        self._hosts.update(dict.fromkeys(map(str, list_at(state, BOUND))))
        self._on_change = on_change

    def on_response(self, response: Response) -> None:
        if _HEADERS.isdisjoint(response.headers):
            return
        self._add(response.url)

    async def hear(self, cdp: CDPSession) -> None:
        """Let Chromium tell of the bound logins that it has, from before too. One that binds none tells nothing."""
        cdp.on("Network.deviceBoundSessionsAdded", lambda event: self._add(*map(_site, event["sessions"])))
        cdp.on("Network.deviceBoundSessionEventOccurred", self._on_event)
        await cdp.send("Network.enableDeviceBoundSessions", {"enable": True})

    def _on_event(self, event: Json) -> None:
        if made := object_at(object_at(event, "creationEventDetails"), "newSession"):
            self._add(_site(made))

    def _add(self, *urls: str) -> None:
        hosts = {urlsplit(url).hostname or "" for url in urls} - {"", *self._hosts}
        if hosts:
            self._hosts.update(dict.fromkeys(hosts))
            self._on_change()

    def state(self) -> Json:
        """Return the hosts as a part of the session's saved logins."""
        return {BOUND: [*self._hosts]} if self._hosts else {}

    def binds(self, site: str) -> bool:
        """Return whether the login at a site seems to be bound."""
        return is_bound(site, self._hosts)

    def words(self, cookies: Iterable[Json]) -> str:
        """Say that the bound ones of some logins do not last elsewhere, and what does; "" if there are none."""
        return bound_words(cookies, self._hosts)


def _site(bound: Json) -> str:
    return str(object_at(bound, "key").get("site", ""))
