"""Recognises the requests that a page repeats by itself: they are no effect of an act, and no act waits for them."""

import time
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Request

from browser_service.rules.bounded import Bounded

_POLLED_FROM: Final = 2
"""A page polls an address that it requests this often without an act: the first may belong to the act before."""
_APART_S: Final = 0.25
"""A script's burst, or one key after another, has one cause. The same address later than this in one act is polled."""
_MOST_ADDRESSES: Final = 200
_KEY_CHARACTERS: Final = 500


class Polling:
    """The addresses that one page polls.

    This is for requests that read. If every request is a POST to one address, an act's own would be taken for the
    page's.
    """

    def __init__(self) -> None:
        self._times = Bounded[str, int](_MOST_ADDRESSES)

    def includes(self, request: Request) -> bool:
        """Say if the page sends this request by itself."""
        return self._times.get(_key(request.url[:_KEY_CHARACTERS]), 0) >= _POLLED_FROM

    def count(self, request: Request) -> None:
        """Count a request that no act caused."""
        key = _key(request.url[:_KEY_CHARACTERS])
        self._times[key] = self._times.get(key, 0) + 1


class ActWindow:
    """When each address was first requested while one act runs."""

    def __init__(self, polling: Polling) -> None:
        self.polling = polling
        self._first: dict[str, float] = {}

    def causes(self, request: Request) -> bool:
        """Say if the act is the likely cause of a request that is sent now."""
        now, key = time.monotonic(), _key(request.url[:_KEY_CHARACTERS])
        if len(self._first) >= _MOST_ADDRESSES or self.polling.includes(request):
            return False
        if now - self._first.setdefault(key, now) > _APART_S:
            self.polling.count(request)
            return False
        return True


@lru_cache(maxsize=1_000)
def _key(url: str) -> str:
    """Return an address without what changes each time: the numbers and marks in its query."""
    parts = urlsplit(url)
    pairs = (pair.partition("=") for pair in parts.query.split("&"))
    query = "&".join(f"{name}={value if value.isalpha() else ''}" for name, _, value in pairs)
    return f"{parts.netloc}{parts.path}?{query}"
