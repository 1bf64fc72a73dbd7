"""The pages that one host has told of, so that it tells of no more than the front can hold."""

from collections.abc import Callable
from typing import Final

from shared.model import weight
from shared.pages import PageState

_MOST_BYTES: Final = 64_000_000
"""The limit of all its pages' states together. A URL alone may have two million."""


class ToldPages:
    """Each page's session and size, until the host tells that the page is closed, or no longer has the session."""

    def __init__(self, most: int, has: Callable[[str], bool]) -> None:
        """`has` returns whether the host has a session now."""
        self._most, self._has = most, has
        self._pages: dict[str, tuple[str, int]] = {}
        self._bytes = 0

    def note(self, page: PageState) -> bool:
        """Count a page as it is now, and return whether the front takes it."""
        size = weight(page.model_dump(mode="json"))
        if not self._has_room(page.page_id, size):
            self._pages = {page_id: told for page_id, told in self._pages.items() if self._has(told[0])}
            self._bytes = sum(size for _, size in self._pages.values())
            if not self._has_room(page.page_id, size):
                return False
        self._bytes += size - self._size(page.page_id)
        self._pages[page.page_id] = page.session_id, size
        return True

    def closed(self, page_id: str, session_id: str) -> None:
        if page_id in self._pages and self._pages[page_id][0] == session_id:
            self._bytes -= self._pages.pop(page_id)[1]

    def _has_room(self, page_id: str, size: int) -> bool:
        others = len(self._pages) - (page_id in self._pages)
        return others < self._most and self._bytes - self._size(page_id) + size <= _MOST_BYTES

    def _size(self, page_id: str) -> int:
        return self._pages[page_id][1] if page_id in self._pages else 0
