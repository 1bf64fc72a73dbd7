"""Gives somebody a budget that is spent by use and refilled by time."""

import time
from math import inf

from browser_service.rules.clock import Clock


class Budget:
    """Holds at most `most`, and is refilled by `per_second`; 0 of these is no limit."""

    def __init__(self, most: float, per_second: float, clock: Clock = time.monotonic) -> None:
        self._most = most if per_second else inf
        self._per_second = per_second
        self._clock = clock
        self._left = self._most
        self._at = clock()

    def spend(self, cost: float) -> bool:
        """Spend as much; return whether there was so much left. What was not there is not owed."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        enough = self._left >= cost
        self._left = self._left - cost if enough else 0.0
        return enough
