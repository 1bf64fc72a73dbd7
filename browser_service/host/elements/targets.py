"""Finds the element at a point, and the one that has the focus."""

from typing import Final

from playwright.async_api import ElementHandle, Page

from browser_service.host.scripts import script
from shared.errors import ElementNotInteractable

NAMED: Final = script("element_name")
_AT: Final = script("element_at")
_INSIDE: Final = script("frame_corner")
_FOCUSED: Final = script("focused_element")


async def at(page: Page, x: float, y: float) -> str:
    """Describe the element at a point of the viewport, in whichever frame or shadow root."""
    frame = page.main_frame
    while True:
        element = (await frame.evaluate_handle(_AT, [x, y])).as_element()
        if element is None:
            return "nothing"
        inside = await element.content_frame()
        if inside is None:
            return str(await element.evaluate(NAMED))
        left, top = await element.evaluate(_INSIDE)
        x, y, frame = x - left, y - top, inside


async def focused(page: Page) -> ElementHandle:
    """Return the element that has the focus, in whichever frame.

    A key pressed on it waits for the navigation that it starts; one pressed on Playwright's keyboard does not.
    """
    frame = page.main_frame
    while True:
        element = (await frame.evaluate_handle(_FOCUSED)).as_element()
        if element is None:
            raise ElementNotInteractable("The page has no document that a key could be pressed on.")
        inside = await element.content_frame()
        if inside is None:
            return element
        frame = inside
