"""Where pages have been, for whoever types an address."""

from typing import Final

from browse_together.contract.cuts import cut
from browse_together.contract.pages import PageState
from browser_service.rules.bounded import Bounded
from browser_service.security.urls import abridged

_MOST_SESSIONS: Final = 50
_MOST_OFFERED: Final = 200
_LONGEST: Final = 2_000
"""Nobody types a longer one, and a page may make its own 2 MB long."""
_TITLE: Final = 200
_SHOWN: Final = ("http://", "https://")


class Visited:
    """The latest addresses, by session, with the titles of their pages. They are in memory alone."""

    def __init__(self) -> None:
        self._titles = Bounded[str, Bounded[str, str]](_MOST_SESSIONS)

    def note(self, page: PageState) -> None:
        url, is_short = page.url, len(page.url) <= _LONGEST
        if is_short and url.startswith(_SHOWN) and not page.error_page and abridged(url) == url:
            titles = self._titles.get(page.session_id)
            if titles is None:
                titles = Bounded(_MOST_OFFERED)
            titles[url] = cut(page.title, _TITLE) or titles.get(url, "")
            self._titles[page.session_id] = titles

    def of(self, session_id: str) -> list[tuple[str, str]]:
        """Return the addresses of a session with their titles, the latest first."""
        titles = self._titles.get(session_id)
        return [*titles.items()][::-1] if titles is not None else []
