"""Remembers who did something within the last minute."""

from collections import deque
from collections.abc import Collection
from typing import Final

from browser_service.rules.clock import Clock

MINUTE_S: Final = 60.0


class Recent:
    """A moving window of one minute, in order of time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: deque[tuple[float, str]] = deque()

    def add(self, client_id: str) -> None:
        self._entries.append((self._clock(), client_id))

    def entries(self) -> Collection[tuple[float, str]]:
        """Return the entries of the last minute: when, and who."""
        horizon = self._clock() - MINUTE_S
        while self._entries and self._entries[0][0] <= horizon:
            self._entries.popleft()
        return self._entries

    def forgets_in(self, number: int) -> float:
        """Return the seconds until the oldest `number` entries have left the window."""
        began_at = [*self.entries()][number - 1][0]
        return max(0.0, began_at + MINUTE_S - self._clock())
