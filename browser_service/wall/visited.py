"""Where pages have been, for whoever types an address."""

from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.security.urls import abridged
from shared.cuts import cut
from shared.pages import PageState

_MOST: Final = 2_000
_MOST_OFFERED: Final = 200
_TITLE: Final = 200
_SHOWN: Final = ("http://", "https://")


class Visited:
    """The latest addresses, by session, with the titles of their pages. They are in memory alone."""

    def __init__(self) -> None:
        self._titles = Bounded[tuple[str, str], str](_MOST)

    def note(self, page: PageState) -> None:
        if page.url.startswith(_SHOWN) and not page.error_page and abridged(page.url) == page.url:
            key = page.session_id, page.url
            self._titles[key] = cut(page.title, _TITLE) or self._titles.get(key, "")

    def of(self, session_id: str) -> list[tuple[str, str]]:
        """Return the addresses of a session with their titles, the latest first."""
        found = [(url, title) for (session, url), title in self._titles.items() if session == session_id]
        return found[: -_MOST_OFFERED - 1 : -1]
