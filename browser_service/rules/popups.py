"""Limits the popups that a page and those that it opened may have: nobody asks for them, and each is a page of all."""

import time
from typing import Final

from browser_service.rules.clock import Clock
from browser_service.rules.rate import Rate

_WITHIN_S: Final = 10.0


class PopupLimit:
    """Is shared by the windows that scripts opened from one another."""

    def __init__(self, most: int, clock: Clock = time.monotonic) -> None:
        """`most` may be open at once, and come within ten seconds; 0 is no limit."""
        self.most = most
        self.came = 0
        """Counts those that the browser has begun to open."""
        self._coming = Rate(most, _WITHIN_S, clock)
        self._telling = Rate(1, _WITHIN_S, clock)

    def permits(self, open_ones: int) -> bool:
        """Say whether one more may come beside those that are open."""
        return not self.most or (open_ones < self.most and self._coming.allows())

    def tells(self) -> bool:
        """Say whether it is time to tell again that some were refused."""
        return self._telling.allows()
