"""Limits the popups that a page and its popups may open, because scripts open them and each takes resources from
all."""

import time
from typing import Final

from browser_service.rules.clock import Clock
from browser_service.rules.rate import Rate

_WITHIN_S: Final = 10.0


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
