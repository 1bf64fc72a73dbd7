"""Tells an act's requests from those that a page repeats by itself."""

import time
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Request

from browser_service.rules.bounded import Bounded

_POLLED_FROM: Final = 2
"""Requests without an act after which an address counts as polled. The first may still belong to the previous act."""
_APART_S: Final = 0.25
"""Maximum time in one act between requests to an address with the same cause, such as a burst or keystrokes. A later
one is polling."""
_MOST_ADDRESSES: Final = 200
_KEY_CHARACTERS: Final = 500


class Polling:
    """The addresses that one page polls.

    This is only for requests that read: where every request is a POST to one address, those of acts would count as
    polling.
    """

    def __init__(self) -> None:
        self._times = Bounded[str, int](_MOST_ADDRESSES)

    def includes(self, request: Request) -> bool:
        """Return whether the page sends this request by itself."""
        return self._times.get(_key(request.url[:_KEY_CHARACTERS]), 0) >= _POLLED_FROM

    def count(self, request: Request) -> None:
        """Count a request that no act caused."""
        key = _key(request.url[:_KEY_CHARACTERS])
        self._times[key] = self._times.get(key, 0) + 1


class ActWindow:
    """The times when one act's addresses were first requested."""

    def __init__(self, polling: Polling) -> None:
        self.polling = polling
        self._first: dict[str, float] = {}

    def causes(self, request: Request) -> bool:
        """Return whether the act probably causes a request that is sent now."""
        now, key = time.monotonic(), _key(request.url[:_KEY_CHARACTERS])
        if len(self._first) >= _MOST_ADDRESSES or self.polling.includes(request):
            return False
        if now - self._first.setdefault(key, now) > _APART_S:
            self.polling.count(request)
            return False
        return True


@lru_cache(maxsize=1_000)
def _key(url: str) -> str:
    """Return an address without the changing parts of its query: all values but words."""
    parts = urlsplit(url)
    pairs = (pair.partition("=") for pair in parts.query.split("&"))
    query = "&".join(f"{name}={value if value.isalpha() else ''}" for name, _, value in pairs)
    return f"{parts.netloc}{parts.path}?{query}"
