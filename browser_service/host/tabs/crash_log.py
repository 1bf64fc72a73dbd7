"""Notices that the renderer of a page dies again and again at the same URL."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final

CRASHES: Final = 3
_WITHIN_S: Final = 60.0
"""After CRASHES crashes at one URL within this time, the page does not reload by itself."""


class CrashLog:
    """The last crashes of one page, with the URL and the time of each."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._crashes: deque[tuple[str, float]] = deque(maxlen=CRASHES)

    def note(self, url: str) -> bool:
        """Note a crash. Returns True if it is one too many at that URL."""
        self._crashes.append((url, self._clock()))
        (first_url, first_at), (_, now) = self._crashes[0], self._crashes[-1]
        same_url = all(each == first_url for each, _ in self._crashes)
        return len(self._crashes) == CRASHES and same_url and now - first_at <= _WITHIN_S

    def allow_one(self) -> None:
        """Let one load pass: if it crashes at that URL within _WITHIN_S, that is again one too many."""
        now = self._clock()
        self._crashes.extend([(url, now) for url, _ in self._crashes][1:])
        self._crashes.popleft()
