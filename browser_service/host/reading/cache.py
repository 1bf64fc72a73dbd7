"""Caches what was just read of a page, for clients that accept a result of some age."""

import time
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from browser_service.rules.bounded import Bounded
from shared.model import Json, weight

_MOST_RESULTS: Final = 1_000
_MOST_WEIGHT: Final = 2_000_000


class _Result(NamedTuple):
    revision: int
    read_at: float
    value: Json


class ReadCache:
    """One page's results, which are good while the page is at the same revision and they are not too old."""

    def __init__(self) -> None:
        self._results = Bounded[tuple[str, str], _Result](
            _MOST_RESULTS, weigh=lambda result: weight(result.value), most_weight=_MOST_WEIGHT
        )

    async def get(
        self, key: tuple[str, str], revision: Callable[[], int], max_age_ms: int, read: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Return a cached result, or read. The key names the client too, because another may not read what it was
        given."""
        cached = self._results.get(key)
        read_at, before = time.monotonic(), revision()
        if cached is not None and cached.revision == before and (read_at - cached.read_at) * 1000 < max_age_ms:
            return cached.value
        value = await read()
        self._results.pop(key, None)
        if max_age_ms and revision() == before and weight(value) <= _MOST_WEIGHT:
            self._results[key] = _Result(before, read_at, value)
        return value
