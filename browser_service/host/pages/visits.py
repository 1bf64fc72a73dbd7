"""Ends a browser to which nobody came: a chat host that only checks whether its servers start leaves none behind."""

import math
import time
from collections.abc import Callable, Collection

from browser_service.host.seam import Idle


class Visits:
    """Whether anybody has come since the start. `idle` is what holds for browsers now."""

    def __init__(self, idle: Idle) -> None:
        self.idle = self._usual = idle
        self._within_s = math.inf
        self._is_somebody_here: Callable[[], bool] = lambda: True
        self._left_at = time.monotonic()

    def expect(self, within_s: float, is_somebody_here: Callable[[], bool]) -> None:
        """End the browser if no page was opened, and for `within_s` no client was there."""
        self._within_s, self._is_somebody_here = within_s, is_somebody_here

    def look(self, open_pages: Collection[object]) -> Idle:
        """Look who is there, and return what holds for browsers from now on."""
        if open_pages:
            self._within_s = math.inf  # for good: the browser is needed here
        now, here = time.monotonic(), self._is_somebody_here()
        self._left_at = now if here else self._left_at
        nobody_came = not here and now - self._left_at >= self._within_s
        self.idle = self._usual._replace(browser_s=0, browsers_kept=0) if nobody_came else self._usual
        return self.idle
