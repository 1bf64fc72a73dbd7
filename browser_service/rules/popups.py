"""Limits the popups that a page and those that it opened may have: nobody asks for them, and each is a page of all."""

from typing import Final

from browser_service.rules.budget import Budget

_REFILLED_IN_S: Final = 10.0
_TOLD_EVERY_S: Final = 10.0


class PopupLimit:
    """Is shared by the windows that scripts opened from one another."""

    def __init__(self, most: int) -> None:
        """`most` may be open at once, and come at once; 0 is no limit."""
        self.most = most
        self.came = 0
        """Counts those that the browser has begun to open."""
        self._coming = Budget(most, most / _REFILLED_IN_S)
        self._telling = Budget(1, 1 / _TOLD_EVERY_S)

    def permits(self, open_ones: int) -> bool:
        """Say whether one more may come beside those that are open."""
        return not self.most or (open_ones < self.most and self._coming.spend(1))

    def tells(self) -> bool:
        """Say whether it is time to tell again that some were refused."""
        return self._telling.spend(1)
