"""Fits a page to a person's phone: gives it the phone's width, and moves the focus from field to field."""

import contextlib
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host import world
from browser_service.host.record.emulation import Emulation
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.host.tabs.tab import Tab

_MOST_FRAMES: Final = 20
_SHARPER: Final = 2
"""Device pixels per CSS pixel, because phones have more pixels than a page counts."""
_RATIO: Final = bounded("() => devicePixelRatio")
_NEXT_FIELD: Final = script("next_field")


class Fit:
    """The width of a phone that a page gets for a while, unless its agent has set a size."""

    def __init__(self, emulation: Emulation) -> None:
        self._emulation = emulation
        self._before: tuple[Tab, tuple[int, int, float] | None] | None = None

    async def begin(self, tab: Tab, width: int, height: int) -> None:
        is_asked_for = not self._emulation.settings.keys().isdisjoint({"device", "viewport"})
        if not tab.metrics.possible or is_asked_for or (self._before is not None and self._before[0] is tab):
            return
        size, ratio = tab.page.viewport_size, read(float, await world.evaluate(tab.page, _RATIO))
        if size is not None and size["width"] <= width:
            return
        self._before = tab, None if size is None else (size["width"], size["height"], ratio)
        await tab.metrics.set(width, height, _SHARPER)

    async def end(self) -> None:
        """Give the page its former size again."""
        if self._before is None:
            return
        (tab, before), self._before = self._before, None
        if not tab.usable:
            return
        with contextlib.suppress(PlaywrightError):  # it goes at this very moment
            await (tab.metrics.clear() if before is None else tab.metrics.set(*before))


async def lead_on(page: Page, *, only_idle: bool) -> bool:
    """Move the focus to the next field, as a phone's keyboard does in its own pages; with `only_idle`, only if nothing
    has the focus. Returns whether a field got it."""
    for frame in page.frames[:_MOST_FRAMES]:
        if await world.evaluate(frame, _NEXT_FIELD, only_idle):
            return True
    return False
