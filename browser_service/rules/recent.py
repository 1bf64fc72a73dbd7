"""A moving window of one minute: who did something lately, and when that is forgotten."""

from collections import deque
from collections.abc import Collection
from typing import Final

from browser_service.rules.clock import Clock

MINUTE_S: Final = 60.0


class Recent:
    """Remembers who did something within the last minute, in order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, str]] = deque()

    def add(self, who: str) -> None:
        self._seen.append((self._clock(), who))

    def seen(self) -> Collection[tuple[float, str]]:
        """Return when each was seen, and who it was."""
        horizon = self._clock() - MINUTE_S
        while self._seen and self._seen[0][0] <= horizon:
            self._seen.popleft()
        return self._seen

    def forgets_in(self, number: int) -> float:
        """Return the seconds until the oldest `number` are out of the window."""
        at = [*self.seen()][number - 1][0]
        return max(0.0, at + MINUTE_S - self._clock())
