"""Names the frames of a page, and finds those in which a selector matches."""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, FrameLocator, Locator, Page

from browser_service.host.scripts import script
from shared.errors import ElementNotFound
from shared.model import Json

ENTER: Final = " >> internal:control=enter-frame >> "
DESCRIBE: Final = script("frame_selector")
_ROW: Final = re.compile(r"(\brole=row\[name)=(?=[^/])")
_MOST: Final = 20
_SHOWN: Final = 4
_WITHIN_S: Final = 0.5
_LATE_MS: Final = 700
"""A loaded page gets this long to make an element itself that one of its frames has already."""


@dataclass(frozen=True)
class FrameMatch:
    """Is a frame that has an element which the page itself lacks."""

    selector: str
    count: int
    visible: bool


def within(root: Page | Frame | FrameLocator, selector: str) -> Locator:
    """Return the locator of a selector that is no ref."""
    if selector.startswith("(//"):
        return root.locator(f"xpath={selector}")
    return root.locator(_ROW.sub(r"\1*=", selector))  # no one means all that is in a row by its name


async def matching(page: Page, selector: str) -> list[FrameMatch]:
    """Return the frames in which a selector matches, visible ones first; a frame that answers late is left out."""
    frames = [frame for frame in page.frames if frame.parent_frame is not None][:_MOST]
    looks = [asyncio.ensure_future(_look(frame, selector)) for frame in frames]
    if not looks:
        return []
    done, late = await asyncio.wait(looks, timeout=_WITHIN_S)
    for look in late:
        look.cancel()
    found = [look.result() for look in looks if look in done]
    return sorted(filter(None, found), key=lambda each: not each.visible)


async def check(page: Page, found: Locator, selector: str) -> None:
    """Raise ElementNotFound at once for an element that is in a frame, but not on the page, which has loaded."""
    if len(page.frames) == 1:
        return
    try:
        async with asyncio.timeout(2 * _WITHIN_S):
            if await found.count() or await page.evaluate("document.readyState") != "complete":
                return
            where = await matching(page, selector)
    except (TimeoutError, PlaywrightError):
        return  # the act itself finds out why
    if not where or not where[0].visible:
        return
    try:
        await found.first.wait_for(state="attached", timeout=_LATE_MS)
    except PlaywrightError:
        raise ElementNotFound(
            f"Element matching selector '{selector}' is not on the page itself, but in {describe(where)}.",
            hint=f"Repeat it with {argument(where)}.",
            details={"selector": selector, "url": page.url, "context": {"frames": [*to_json(where)]}},
        ) from None


def describe(where: list[FrameMatch]) -> str:
    names = [f"frame {each.selector!r} ({each.count})" for each in where[:_SHOWN]]
    return ", ".join(names) + (f" and {len(where) - _SHOWN} more frames" if len(where) > _SHOWN else "")


def argument(where: list[FrameMatch]) -> str:
    """Write the argument that reaches into the first of the frames."""
    return f'"frame": {json.dumps(where[0].selector, ensure_ascii=False)}'


def to_json(where: list[FrameMatch]) -> list[Json]:
    return [{"frame": each.selector, "count": each.count} for each in where[:_SHOWN]]


async def _look(frame: Frame, selector: str) -> FrameMatch | None:
    try:
        count = await within(frame, selector).count()
        return await _named(frame, count) if count else None
    except PlaywrightError:  # it went
        return None


async def _named(frame: Frame, count: int) -> FrameMatch:
    """Name the frame by a selector that starts at the page's own document."""
    names: list[str] = []
    visible = True
    while (parent := frame.parent_frame) is not None:
        element = await frame.frame_element()
        described = await element.evaluate(DESCRIBE)
        elements = parent.locator("iframe, frame")
        index = 0 if described["selector"] else await elements.evaluate_all("(all, e) => all.indexOf(e)", element)
        names.insert(0, described["selector"] or f":is(iframe, frame) >> nth={index}")
        visible, frame = visible and described["visible"], parent
    return FrameMatch(ENTER.join(names), count, visible)
