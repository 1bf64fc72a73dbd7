"""Draws outlines on a page, for a person or a picture."""

from typing import Final

from playwright.async_api import Locator, Page

from browser_service.host.scripts import script

_TAG: Final = "x-browse-mark"
_DRAW: Final = script("mark_draw")
_REMOVE: Final = script("mark_removal")


async def draw(element: Locator, label: str, colour: str, seconds: float, timeout_ms: int) -> None:
    """Mark an element. Raises Playwright's error if it cannot be seen."""
    await element.scroll_into_view_if_needed(timeout=timeout_ms)
    given = {"tag": _TAG, "label": label, "colour": colour, "seconds": seconds}
    await element.evaluate(_DRAW, given, timeout=timeout_ms)


async def remove(page: Page) -> int:
    """Remove all marks in all frames, and return their number."""
    return sum([int(await frame.evaluate(_REMOVE, _TAG)) for frame in page.frames])
