"""Limits how often something happens."""

import time
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

Clock = Callable[[], float]
"""Counts seconds from some moment, and never goes back."""

_WITHIN_S: Final = 10.0
MINUTE_S: Final = 60.0


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


class PopupLimit:
    """The popup limit that windows opened by one another share."""

    def __init__(self, most: int, clock: Clock = time.monotonic) -> None:
        """At most `most` may be open at once, and open within ten seconds; 0 means no limit."""
        self.most = most
        self.came = 0
        """Popups that the browser has begun to open."""
        self._coming = Rate(most, _WITHIN_S, clock)
        self._telling = Rate(1, _WITHIN_S, clock)

    def permits(self, open_ones: int) -> bool:
        """Return whether one more may open beside `open_ones` that are open."""
        return not self.most or (open_ones < self.most and self._coming.allows())

    def tells(self) -> bool:
        """Return whether it is time to report refused popups again."""
        return self._telling.allows()


class MovingWindow:
    """The times within the last minute; at most `most` may be there, and 0 means no limit."""

    def __init__(self, most: int, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._times: deque[float] = deque()

    def __len__(self) -> int:
        horizon = self._clock() - MINUTE_S
        while self._times and self._times[0] <= horizon:
            self._times.popleft()
        return len(self._times)

    def add(self, count: int = 1) -> None:
        self._times.extend([self._clock()] * count)

    def free_in(self, count: int = 1) -> float:
        """Return the seconds until there is room for `count` more. More than could ever fit get room once the window is
        empty."""
        over = len(self) + min(count, self._most) - self._most
        return self._times[over - 1] + MINUTE_S - self._clock() if self._most and over > 0 else 0.0
