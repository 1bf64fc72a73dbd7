"""Has the picture of a page for those who may see no secrets."""

import base64
import time
from collections.abc import Callable
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.cast import Picture
from browser_service.host.page.tab import Tab
from browser_service.host.recording.secrecy import secrets_on, shot_without_secrets

_EVERY_S: Final = 1.0
_LATE_S: Final = 0.5
"""A picture of the screencast comes so late at most."""
_UNKNOWN_S: Final = 1.0
"""For so long those who watch keep what they have seen of a page that does not say where its secrets are."""


class MaskedPictures:
    """Passes the screencast's pictures on while no secret can be on them. Else it makes pictures of its own now and
    then, with black boxes, because nobody knows where a field was when a picture was made that came by itself."""

    def __init__(self, next_seq: Callable[[], int]) -> None:
        self._next_seq = next_seq
        self._own: Picture | None = None
        self._of = 0
        """Is the screencast's picture after which the own one was made."""
        self._navigations = 0
        self._harmless_since: float | None = None
        self._unknown_since: float | None = None

    @property
    def hidden(self) -> bool:
        """True where it has been unknown for too long where the secrets are."""
        return self._unknown_since is not None and time.monotonic() - self._unknown_since > _UNKNOWN_S

    async def instead_of(self, newest: Picture, tab: Tab, width: int, *, is_current: bool) -> Picture | None:
        """Return what may be shown now; None where nothing new may be."""
        if newest.navigations != self._navigations:  # of another document nothing was known
            self._navigations, self._harmless_since = newest.navigations, None
        secrets, now = await secrets_on(tab.page), time.monotonic()
        if secrets is None:
            self._harmless_since, self._unknown_since = None, self._unknown_since or now
            return None
        self._harmless_since = None if secrets.boxes else self._harmless_since or now
        if is_current and self._harmless_since is not None and newest.at > self._harmless_since + _LATE_S:
            self._unknown_since = None
            return self._passed_on(newest)
        if self._own is None or (self._of < newest.seq and now - self._own.at > _EVERY_S):
            await self._make(newest, tab, width)
        return self._own

    def _passed_on(self, newest: Picture) -> Picture:
        """Return the screencast's picture, as a newer one than what was made meanwhile."""
        if self._own is None or newest.seq > self._own.seq:
            self._own = None
            return newest
        if self._of < newest.seq:
            self._own, self._of = newest._replace(seq=self._next_seq()), newest.seq
        return self._own

    async def _make(self, newest: Picture, tab: Tab, width: int) -> None:
        try:
            shot = await shot_without_secrets(tab, width)
        except (PlaywrightError, OSError, ValueError):  # the page has just gone, or shows nothing
            shot = None
        if shot is None:
            self._unknown_since = self._unknown_since or time.monotonic()
            return
        self._unknown_since, self._of = None, newest.seq
        data = base64.b64encode(shot.data).decode()
        made = Picture(data, shot.width, shot.height, time.monotonic(), self._next_seq(), newest.navigations)
        self._own = made
