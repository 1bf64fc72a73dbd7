"""Names the frames of a page, and finds those in which a selector matches."""

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from playwright.async_api import ElementHandle, Frame, FrameLocator, Locator, Page
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browse_together.contract.cuts import shown_of
from browse_together.contract.errors import ElementNotFound
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.scripts import results, script
from browser_service.host.world.handles import taken
from browser_service.security.urls import BROWSERS_OWN, abridged, origin_of

ENTER: Final = " >> internal:control=enter-frame >> "
_DESCRIBED: Final = results.bounded(script("frame_selector"))
_INDEX: Final = results.bounded("e => [...document.querySelectorAll('iframe, frame')].indexOf(e)")
_READY_STATE: Final = results.bounded("() => document.readyState")
_NAMED_ROW: Final = re.compile(r"(\brole=row\[name)=(?=[^/])")
_WORD: Final = re.compile(r"\S")
_MOST_FRAMES: Final = 20
_LISTED_FRAMES: Final = 4
_SEARCH_S: Final = 0.5
_MOST_MORE_S: Final = 3
_LATE_ELEMENT_MS: Final = 700
"""How long a loaded page may take to create an element that one of its frames already has."""
_ANSWERS: Final = 20


@dataclass(frozen=True)
class FrameMatch:
    """A frame that has an element which the page itself lacks, or that did not answer in time whether it has."""

    selector: str
    """Empty if no selector reaches the frame, as inside <object> or a closed shadow root, and if it did not answer."""
    count: int
    """How many it has; 0 if it did not answer."""
    visible: bool
    url: str

    def __str__(self) -> str:
        if not self.count:
            return f"a frame at {self.url} (no answer)"
        name = f"frame {self.selector!r}" if self.selector else "a frame that no selector reaches"
        return f"{name} ({self.count})"


def locate(root: Page | Frame | FrameLocator, selector: str) -> Locator:
    if selector.startswith("(//"):
        return root.locator(f"xpath={selector}")
    return root.locator(_NAMED_ROW.sub(r"\1*=", selector))  # a row's name is all its text, and callers give a part


async def matching(page: Page, selector: str) -> list[FrameMatch]:
    """Return the frames in which a selector matches, visible ones first, and at last those that did not answer."""
    return await with_some(page.frames, lambda frame: locate(frame, selector).count())


async def with_words(page: Page, element: Locator | None) -> list[FrameMatch]:
    """Return the visible frames with words: those of a page, or only those in an element."""
    if len(page.frames) == 1:
        return []
    frames = page.frames if element is None else await _frames_in(element)
    found = await with_some(frames, lambda frame: frame.locator("body").filter(has_text=_WORD).count())
    return [match for match in found if match.visible or not match.count]


async def _frames_in(element: Locator) -> list[Frame]:
    handles = (await element.locator("iframe, frame").element_handles())[:_MOST_FRAMES]
    found = [frame for handle in handles if (frame := await taken(handle).content_frame())]
    for frame in found:  # grows by the frames within
        found += frame.child_frames
    return found


async def with_some(frames: list[Frame], count: Callable[[Frame], Awaitable[int]]) -> list[FrameMatch]:
    """Return those of a page's inner frames that have some of what is counted, and those that did not answer."""
    inner = [frame for frame in frames if frame.parent_frame is not None and not is_of_browser(frame)]
    searches = {frame: asyncio.ensure_future(_match(frame, count(frame))) for frame in inner[:_MOST_FRAMES]}
    if not searches:
        return []
    all_found = asyncio.ensure_future(asyncio.wait(searches.values()))
    patience = None
    try:
        _, late = await asyncio.wait([all_found], timeout=_SEARCH_S)
        if late:
            patience = asyncio.ensure_future(_answers(inner[0].page))
            await asyncio.wait([all_found, patience], return_when=asyncio.FIRST_COMPLETED)
        found = [search.result() if search.done() else _late(frame) for frame, search in searches.items()]
    finally:
        for each in filter(None, (patience, all_found, *searches.values())):
            each.cancel()
    return sorted(filter(None, found), key=lambda match: (not match.visible, not match.count))


async def _answers(page: Page) -> None:
    """Wait for some answers of the page's own document, which is slow where the machine is, and quick where only a
    frame hangs: so long late frames are waited for."""
    with contextlib.suppress(TimeoutError, PlaywrightError):  # then it is the page that hangs, or is gone
        async with asyncio.timeout(_MOST_MORE_S):
            for _ in range(_ANSWERS):
                await world.evaluate(page, _READY_STATE)


async def check(page: Page, locator: Locator, selector: str) -> None:
    """Raise ElementNotFound at once for an element that the loaded page lacks and one of its frames has."""
    if len(page.frames) == 1:
        return
    try:
        async with asyncio.timeout(_SEARCH_S + _MOST_MORE_S):
            if await locator.count() or results.value_of(await world.evaluate(page, _READY_STATE)) != "complete":
                return
            matches = await matching(page, selector)
    except (TimeoutError, PlaywrightError):
        return  # the act itself will find out why
    if not matches or not matches[0].visible:
        return
    try:
        await locator.first.wait_for(state="attached", timeout=_LATE_ELEMENT_MS)
    except PlaywrightError:
        raise ElementNotFound(
            f"Element matching selector '{selector}' is not on the page itself, but in {describe(matches)}.",
            hint=f"{way_in(matches).replace('repeat', 'Repeat', 1).replace('open', 'Open', 1)}.",
            details={"selector": selector, "url": page.url, "context": {"frames": [*to_json(matches)]}},
        ) from None


def describe(matches: list[FrameMatch]) -> str:
    shown = shown_of(len(matches), _LISTED_FRAMES)
    names = ", ".join(str(match) for match in matches[:shown])
    more = len(matches) - shown
    return f"{names} and {more} more frames" if more > 0 else names


def way_in(matches: list[FrameMatch]) -> str:
    """Return how to reach into the first of the frames."""
    if not matches[0].selector:
        return f"open that as a page: {next_call('open_page', url=matches[0].url)}"
    return f'repeat it with "frame": {json.dumps(matches[0].selector, ensure_ascii=False)}'


def named(matches: list[FrameMatch]) -> Json:
    """Return the part of a reply that names frames, and the way into the first."""
    return {"inFrames": f"{describe(matches)}: {way_in(matches)}"} if matches else {}


def to_json(matches: list[FrameMatch]) -> list[Json]:
    return [{"frame": match.selector, "count": match.count} for match in matches[:_LISTED_FRAMES] if match.selector]


class FrameElement(TypedDict):
    """How to find a frame in its document, if that is possible."""

    selector: str | None
    title: str
    visible: bool


async def described(element: ElementHandle) -> FrameElement:
    """Return how to find a frame in its document, with its title and whether it is visible."""
    return results.read(FrameElement, await world.evaluate(element, _DESCRIBED))


def _late(frame: Frame) -> FrameMatch:
    return FrameMatch("", 0, visible=False, url=abridged(frame.url))


async def _match(frame: Frame, counting: Awaitable[int]) -> FrameMatch | None:
    try:
        count = await counting
        return await _describe_match(frame, count) if count else None
    except PlaywrightError:  # the frame went
        return None


async def _describe_match(frame: Frame, count: int) -> FrameMatch:
    """Name the frame by a selector that starts at the page's own document."""
    names: list[str] = []
    visible, url = True, abridged(frame.url)
    while (parent := frame.parent_frame) is not None:
        element = await frame.frame_element()
        found = await described(element)
        index = 0 if found["selector"] else results.read(int, await world.evaluate(element, _INDEX))
        if index < 0:
            return FrameMatch("", count, found["visible"], url)
        names.insert(0, found["selector"] or f":is(iframe, frame) >> nth={index}")
        visible, frame = visible and found["visible"], parent
    return FrameMatch(ENTER.join(names), count, visible, url)


def is_of_browser(frame: Frame) -> bool:
    """Return whether a frame belongs to the browser itself, such as its PDF viewer."""
    around: Frame | None = frame
    while around is not None and not around.url.startswith(BROWSERS_OWN):
        around = around.parent_frame
    return around is not None


def origin_of_frame(frame: Frame) -> str:
    """Return the origin of a frame. A frame without its own address has the origin of the frame around it."""
    around: Frame | None = frame
    while around is not None:
        if origin := origin_of(around.url.removeprefix("blob:")):
            return origin
        if around.url.startswith("data:"):
            return ""
        around = around.parent_frame
    return ""
