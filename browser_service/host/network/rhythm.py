"""What a page asks for by itself, again and again: no act is told of it, and none waits for it."""

import time
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Request

from browser_service.rules.bounded import Bounded

_OFTEN: Final = 2
"""Times that an address is asked for without an act: once may be the last of what an act began."""
_APART_S: Final = 0.25
"""What a script sends at once, or key after key, has one cause; the same address later in one act is polled."""
_KEPT: Final = 200
_KEY_CHARACTERS: Final = 500


class Rhythm:
    """The addresses that one page polls.

    For requests that read. Where every request is a POST to one address, an act's own would be taken for the page's.
    """

    def __init__(self) -> None:
        self._times = Bounded[str, int](_KEPT)

    def has(self, request: Request) -> bool:
        """Whether the page sends it by itself."""
        return self._times.get(_key(request.url[:_KEY_CHARACTERS]), 0) >= _OFTEN

    def sent(self, request: Request) -> None:
        """Count a request that no act caused."""
        key = _key(request.url[:_KEY_CHARACTERS])
        self._times[key] = self._times.get(key, 0) + 1


class Window:
    """When each address was asked for first while one act ran."""

    def __init__(self, rhythm: Rhythm) -> None:
        self._rhythm = rhythm
        self._first: dict[str, float] = {}

    def causes(self, request: Request) -> bool:
        """Whether the act is the likely cause of a request that is sent now."""
        now, key = time.monotonic(), _key(request.url[:_KEY_CHARACTERS])
        if len(self._first) >= _KEPT or self._rhythm.has(request):
            return False
        if now - self._first.setdefault(key, now) > _APART_S:
            self._rhythm.sent(request)
            return False
        return True


@lru_cache(maxsize=1_000)
def _key(url: str) -> str:
    """An address without what differs from one time to the next: the numbers and marks in its query."""
    parts = urlsplit(url)
    named = (pair.partition("=") for pair in parts.query.split("&"))
    query = "&".join(f"{name}={value if value.isalpha() else ''}" for name, _, value in named)
    return f"{parts.netloc}{parts.path}?{query}"
