"""Finds the element at a point, and the focused one."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import FiniteFloat

from browse_together.contract.errors import ElementNotInteractable
from browse_together.contract.model import Json
from browser_service.host import world
from browser_service.host.elements.frames import origin_of_frame
from browser_service.host.scripts import results, script
from browser_service.host.world.handles import taken

_ELEMENT_NAME: Final = results.bounded(script("element_name"))
_ELEMENT_AT: Final = script("element_at")
_CLICK_POINT: Final = results.bounded(script("click_point"))
_FRAME_CORNER: Final = results.bounded(script("frame_corner"))
_TELLS: Final = 0.01
"""From this difference on, a frame counts as drawn smaller or larger: sizes are rounded."""
_FOCUSED_ELEMENT: Final = script("focused_element")


class Point(NamedTuple):
    x: FiniteFloat
    y: FiniteFloat


class FrameCorner(NamedTuple):
    """Where the document in a frame begins in the one around it, by how much it is drawn larger, and its own zoom."""

    left: FiniteFloat
    top: FiniteFloat
    across: FiniteFloat
    down: FiniteFloat
    zoom: FiniteFloat

    def around(self, x: float, y: float) -> Point:
        """Return where a point of the frame is in the document around it."""
        return Point(self.left + x * self.across, self.top + y * self.down)

    def within(self, x: float, y: float) -> Point:
        """Return where a point of the document around it is in the frame."""
        return Point((x - self.left) / (self.across or 1), (y - self.top) / (self.down or 1))


async def element_at(page: Page, x: float, y: float) -> ElementHandle | None:
    """Return the element at a point of the viewport, in whichever frame or shadow root."""
    frame = page.main_frame
    while True:
        element = await world.element(frame, _ELEMENT_AT, [x, y])
        content_frame = await element.content_frame() if element is not None else None
        if element is None or content_frame is None:
            return element
        (x, y), frame = (await _corner(element)).within(x, y), content_frame


async def element_name_at(page: Page, x: float, y: float) -> str:
    """Describe the element at a point of the viewport."""
    element = await element_at(page, x, y)
    return "nothing" if element is None else await name_of(element)


async def name_of(element: ElementHandle) -> str:
    return results.read(str, await world.evaluate(element, _ELEMENT_NAME))


@contextlib.asynccontextmanager
async def released_on_error(page: Page, key: str) -> AsyncIterator[None]:
    """If a key combination cannot be pressed, release its modifiers, which Playwright would otherwise keep pressed."""
    try:
        yield
    except PlaywrightError:
        for held in key.split("+")[:-1]:
            with contextlib.suppress(PlaywrightError):
                await page.keyboard.up(held)
        raise


async def point_of(element: ElementHandle, point: Json | None, *, ticks: bool = False) -> Point:
    """Return the viewport position of a point of an element, or of its middle. With `ticks`, a label stands for its
    control."""
    x, y = results.read(Point, await world.evaluate(element, _CLICK_POINT, [point, ticks]))
    frame = await element.owner_frame()
    while frame is not None and frame.parent_frame is not None:
        corner = await _corner(taken(await frame.frame_element()))
        (x, y), frame = corner.around(x, y), frame.parent_frame
    return Point(x, y)


async def is_scaled(element: ElementHandle) -> bool:
    """Return whether an element is in a frame that is zoomed, or of another origin and drawn smaller or larger."""
    frame = await element.owner_frame()
    while frame is not None and (around := frame.parent_frame) is not None:
        _, _, *scales, zoom = await _corner(taken(await frame.frame_element()))
        scales = [zoom] if origin_of_frame(frame) == origin_of_frame(around) else scales
        if any(abs(scale - 1) > _TELLS for scale in scales):
            return True
        frame = around
    return False


async def _corner(frame: ElementHandle) -> FrameCorner:
    return results.read(FrameCorner, await world.evaluate(frame, _FRAME_CORNER))


async def focused_element(page: Page) -> ElementHandle:
    """Return the focused element, in whichever frame.

    A key pressed on it waits for the navigation that it starts; one pressed on Playwright's keyboard does not.
    """
    frame = page.main_frame
    while True:
        element = await world.element(frame, _FOCUSED_ELEMENT)
        if element is None:
            raise ElementNotInteractable("The page has no document that a key could be pressed on.")
        content_frame = await element.content_frame()
        if content_frame is None:
            return element
        frame = content_frame
