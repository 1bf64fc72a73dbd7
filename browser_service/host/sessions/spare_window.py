"""A window that is opened before a page needs it."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from playwright.async_api import Page

from browse_together.contract.background import Background
from browser_service.host.background import bounded

_AFTER_REPLY_S: Final = 0.02
_WINDOWS: Final = 2
"""Whoever has opened this many windows within a spare one's lifetime will open another."""


class SpareWindow:
    """A window of one context that no page has yet. Nobody but the context itself knows of it."""

    def __init__(self, open_window: Callable[[], Awaitable[Page]]) -> None:
        self._open = open_window
        self._making: asyncio.Task[Page] | None = None
        self._has_taker = False
        self._opened_at = deque[float](maxlen=_WINDOWS)
        self._closing = Background()

    def is_wanted(self, lasts_s: float) -> bool:
        return len(self._opened_at) == _WINDOWS and time.monotonic() - self._opened_at[0] < lasts_s

    def is_lacking(self, lasts_s: float) -> bool:
        return self._making is None and self.is_wanted(lasts_s)

    def make(self) -> None:
        """Begin to open a window, unless there is one."""
        if self._making is None:
            self._making = asyncio.create_task(self._make())
            self._making.add_done_callback(lambda made: made.cancelled() or made.exception())

    async def _make(self) -> Page:
        await asyncio.sleep(_AFTER_REPLY_S)  # the reply to the call that opened the last window goes first
        return await self._open()

    async def take(self) -> Page | None:
        """Return the window, if there is one or is about to be; no other caller gets it."""
        self._opened_at.append(time.monotonic())
        if (making := self._making) is None or self._has_taker:
            return None
        self._has_taker = True
        try:
            await asyncio.wait({making})
        finally:
            self._has_taker = False
        if making is not self._making:
            return None  # it was dropped meanwhile
        self._making = None
        page = None if making.cancelled() or making.exception() else making.result()
        return page if page is not None and not page.is_closed() else None

    def drop(self) -> asyncio.Task[None] | None:
        """Begin to close the window, if there is one."""
        if (making := self._making) is None:
            return None
        self._making = None
        return self._closing.spawn(_close(making))


async def _close(making: "asyncio.Task[Page]") -> None:
    with contextlib.suppress(Exception):  # it was never made, or its browser is gone
        await bounded((await making).close())
