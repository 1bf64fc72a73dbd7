"""The pictures of a page for viewers who may see no secrets."""

import base64
import math
import time
from typing import ClassVar, Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.tabs.cast import Picture
from browser_service.host.tabs.secrecy import Camera, secrets_on, shot_without_secrets
from browser_service.host.tabs.tab import Tab

_EVERY_S: Final = 1.0
_GAP_S: Final = 0.2
"""The shortest time between two pictures, over all pages, because each costs 30 ms of CPU."""
_LATE_S: Final = 0.5
"""A picture of the screencast comes at most this late."""
_UNKNOWN_S: Final = 1.0
"""For this long viewers keep the last picture of a page that does not tell where its secrets are."""


class MaskedPictures:
    """The pictures of one page that show no secrets. The screencast's own pass while no secret can be on them.
    Otherwise we take pictures now and then, with black boxes, because nobody knows where a field was when a
    screencast's picture was taken."""

    _last_turn: ClassVar[float] = 0.0
    """The latest turn to take a picture that any page was given."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._turn = math.inf
        self._own: Picture | None = None
        self._of = 0
        """The `seq` of the screencast's picture that we passed on, or after which we took our own."""
        self._navigations = 0
        self._harmless_since: float | None = None
        self._unknown_since: float | None = None

    @property
    def hidden(self) -> bool:
        """True if it has been unknown for too long where the secrets are."""
        return self._unknown_since is not None and time.monotonic() - self._unknown_since > _UNKNOWN_S

    async def instead_of(self, newest: Picture, tab: Tab, width: int, *, is_current: bool) -> Picture | None:
        """Return the picture to show now; None if no new one may be shown. For a picture that was judged before, the
        page is not asked again."""
        if newest.seq == self._of and self._unknown_since is None:
            return self._own or newest
        if newest.navigations != self._navigations:  # nothing is known of a new document
            self._navigations, self._harmless_since = newest.navigations, None
        if self._harmless_since is None and self._own is not None and time.monotonic() - self._own.at < _EVERY_S:
            return self._own
        secrets, now = await secrets_on(tab), time.monotonic()
        if secrets is None:
            self._harmless_since, self._unknown_since = None, self._unknown_since or now
            return None
        self._harmless_since = None if secrets.boxes else self._harmless_since or now
        if is_current and self._harmless_since is not None and newest.at > self._harmless_since + _LATE_S:
            self._unknown_since = None
            return self._passed_on(newest)
        if self._has_turn(now):
            self._turn = math.inf
            await self._make(newest, tab, width)
        return self._own

    def _has_turn(self, now: float) -> bool:
        """Say if it is the page's turn to be pictured; give it a turn if it has none."""
        if self._turn == math.inf:
            self._turn = MaskedPictures._last_turn = max(now, MaskedPictures._last_turn + _GAP_S)
        return now >= self._turn

    def _passed_on(self, newest: Picture) -> Picture:
        """Return the screencast's picture, numbered after any that we took meanwhile."""
        if self._own is None or newest.seq > self._own.seq:
            self._own, self._of = None, newest.seq
            return newest
        if self._of < newest.seq:
            self._own, self._of = newest._replace(seq=self._camera.next_seq()), newest.seq
        return self._own

    async def _make(self, newest: Picture, tab: Tab, width: int) -> None:
        try:
            shot = await shot_without_secrets(tab, width, self._camera)
        except (PlaywrightError, OSError, ValueError):  # the page has just gone, or shows nothing
            shot = None
        if shot is None:
            self._unknown_since = self._unknown_since or time.monotonic()
            return
        self._unknown_since, self._of = None, newest.seq
        data = base64.b64encode(shot.data).decode()
        made = Picture(data, shot.width, shot.height, time.monotonic(), self._camera.next_seq(), newest.navigations)
        self._own = made
