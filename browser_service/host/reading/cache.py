"""Keeps what was just read of a page, for clients that accept an answer of some age."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from browser_service.rules.bounded import Bounded
from shared.model import Json, weight

_MOST = 1_000
_MOST_WEIGHT = 2_000_000


class _Answer(NamedTuple):
    revision: int
    read_at: float
    answer: Json


class ReadCache:
    """Keeps one page's answers, which are good while the page is at the same revision and they are not too old."""

    def __init__(self) -> None:
        self._kept = Bounded[tuple[str, str], _Answer](
            _MOST, weigh=lambda kept: weight(kept.answer), most_weight=_MOST_WEIGHT
        )

    async def answer(
        self, key: tuple[str, str], revision: Callable[[], int], max_age_ms: int, look: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Return a kept answer, or look. The key names the client too, since another may not read what it was given."""
        kept = self._kept.get(key)
        if kept is not None and kept.revision == revision() and _age_ms(kept) < max_age_ms:
            return kept.answer
        before, read_at = revision(), time.monotonic()
        found = await look()
        self._kept.pop(key, None)
        if max_age_ms and revision() == before and weight(found) <= _MOST_WEIGHT:
            self._kept[key] = _Answer(before, read_at, found)
        return found


def _age_ms(kept: _Answer) -> float:
    return (time.monotonic() - kept.read_at) * 1000
