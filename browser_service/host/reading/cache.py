"""Caches results of recent reads of a page, for clients that accept a result of some age."""

import time
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, Protocol

from browser_service.rules.bounded import Bounded
from shared.model import Json, weight

_MOST_RESULTS: Final = 1_000
_MOST_WEIGHT: Final = 2_000_000


class _Result(NamedTuple):
    revision: int
    read_at: float
    value: Json


class Revised(Protocol):
    """The page that is read, with its present revision."""

    revision: int


class ReadCache:
    """The cached results of one page. A result is valid while the page's revision is the same and the result is young
    enough."""

    def __init__(self) -> None:
        self._results = Bounded[tuple[str, str], _Result](
            _MOST_RESULTS, weigh=lambda result: weight(result.value), most_weight=_MOST_WEIGHT
        )

    async def get(
        self, key: tuple[str, str], page: Revised, max_age_ms: int, read: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Return the cached result for a key, or read a new one. The key also names the client, because clients may not
        see each other's results."""
        cached = self._results.get(key)
        read_at, before = time.monotonic(), page.revision
        if cached is not None and cached.revision == before and (read_at - cached.read_at) * 1000 < max_age_ms:
            return cached.value
        value = await read()
        self._results.pop(key, None)
        if max_age_ms and page.revision == before and weight(value) <= _MOST_WEIGHT:
            self._results[key] = _Result(before, read_at, value)
        return value
