"""A limit on a number of things within any minute."""

from collections import deque
from typing import Final

from browser_service.rules.clock import Clock

MINUTE_S: Final = 60.0


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
