"""Limits how often something happens."""

import time
from math import inf

from browser_service.rules.clock import Clock


class Rate:
    """At most `most` within `within_s` seconds, counted from the first of them."""

    def __init__(self, most: int, within_s: float, clock: Clock = time.monotonic) -> None:
        self._most, self._within_s, self._clock = most, within_s, clock
        self._began, self._count = -inf, 0

    def allows(self, at: float | None = None) -> bool:
        """Count one more, now or at time `at`. Return False if that is too many."""
        now = self._clock() if at is None else at
        if now - self._began >= self._within_s:
            self._began, self._count = now, 0
        self._count += 1
        return self._count <= self._most
