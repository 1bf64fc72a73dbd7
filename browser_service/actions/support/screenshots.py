"""Takes pictures of a page, of bounded size; a large one is taken in pieces, so that nobody waits long for one."""

import asyncio
import io
import math
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from PIL import Image
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from browse_together.contract.actions.media import Screenshot
from browse_together.contract.errors import ValidationFailed, field_details
from browser_service.host import world
from browser_service.host.errors import is_timeout
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading.boxes import control_boxes, frame_insets
from browser_service.host.scripts import script
from browser_service.host.scripts.results import of_kind
from browser_service.marks import draw_marks
from browser_service.pictures import MOST_PIXELS, stitch, work_on

Options = dict[str, Any]  # Any: as Playwright types each
_PIECE_PIXELS: Final = 4_000_000
_LONGEST_SIDE: Final = {"png": 65_000, "jpeg": 65_000, "webp": 16_383}
"""A side may have this many pixels in each format."""
_DOCUMENT_SIZE: Final = script("document_size")
_RATIO: Final = "() => Number(devicePixelRatio)"
_RATIOS: Final = (1.0, 10.0)
_LONGEST_DOCUMENT: Final = 50_000_000.0
_PIECES_SHARE: Final = 0.6
"""Taking pieces may use this share of a call's time."""
_OPTIONS: Final = frozenset({"omit_background", "animations", "caret", "scale", "mask_color", "style"})
_MOST_MARKS: Final = 300
_OUTSIDE: Final = "Clipped area"


class Picture(NamedTuple):
    data: bytes
    width: int
    height: int
    cut: str = ""
    """What is missing if the page goes on."""
    marks: int = 0
    """How many controls have their refs drawn on them."""


@dataclass(frozen=True)
class _Area:
    """A part of the document in CSS pixels, with the picture's pixels for each of them."""

    x: float
    y: float
    width: float
    height: float
    ratio: float

    @property
    def pixels(self) -> float:
        return self.width * self.height * self.ratio**2

    def clip(self, top: float = 0, height: float | None = None) -> dict[str, float]:
        return {"x": self.x, "y": self.y + top, "width": self.width, "height": height or self.height}


async def take(page: BrowserPage, action: Screenshot) -> Picture:
    """Take a picture, with marks if they are asked for. Raises ValidationFailed if the format cannot hold it."""
    picture = await _take(page, action)
    return await _with_marks(page, action, picture) if action.marks else picture


async def _with_marks(page: BrowserPage, action: Screenshot, picture: Picture) -> Picture:
    """Draw the refs of controls on the picture, not on the page, which never learns of them."""
    view = await page.looks.refresh_view(action.timeout, boxes=True)
    _, _, left, top, _, _ = await _sizes(page)
    ratio = await _ratio(page, action)
    shift = (left, top) if action.full_page else (0.0, 0.0)
    insets = await frame_insets(page.playwright, view.tree)
    placed = [(node, box.on_picture(shift, ratio)) for node, box in control_boxes(view.tree, insets)]
    shown = [(node, box) for node, box in placed if box.is_within(picture.width, picture.height)][:_MOST_MARKS]
    view.add_refs(node for node, _ in shown)
    marks = [(str(node.ref), box) for node, box in shown]
    pixels = picture.width * picture.height
    data = await work_on(pixels, draw_marks, picture.data, marks, ratio, action.type, action.quality)
    return picture._replace(data=data, marks=len(marks))


async def _ratio(page: BrowserPage, action: Screenshot) -> float:
    """Return the picture's pixels for each CSS pixel."""
    return (
        1.0 if action.scale == "css" else _bounded(await world.evaluate(page.playwright, _RATIO), *_RATIOS, default=1.0)
    )


async def _take(page: BrowserPage, action: Screenshot) -> Picture:
    options: Options = {name: value for name, value in action.own_arguments().items() if name in _OPTIONS}
    if action.mask:
        options["mask"] = [await page.elements.find(masked, action.frame, strict=True) for masked in action.mask]
    element = await page.elements.find(action.selector, action.frame) if action.selector else None
    area = await _area(page, action, element)
    if area is not None and area.pixels > _PIECE_PIXELS:
        return await _in_pieces(page, action, area, options)
    options |= {"type": action.type, "timeout": action.timeout}
    if action.type != "png":
        options["quality"] = action.quality
    if element is not None:
        return _opened(await element.screenshot(**options))
    clip: Options = {"clip": action.clip.model_dump()} if action.clip else {}
    return _opened(await page.playwright.screenshot(**options, **clip, full_page=action.full_page))


async def _area(page: BrowserPage, action: Screenshot, element: Locator | None) -> _Area | None:
    """Return what the picture shows if that can be more than a window, else None."""
    window = page.playwright.viewport_size
    small = window is None or window["width"] * window["height"] <= _PIECE_PIXELS
    if element is None and not action.full_page and small:
        return None
    box = None
    if element is not None:
        await element.wait_for(state="attached", timeout=action.timeout)
        box = await element.bounding_box(timeout=action.timeout)
        if box is None:
            return None  # it is not visible, which taking it says
    width, height, left, top, inner_width, inner_height = await _sizes(page)
    ratio = await _ratio(page, action)
    if box is not None:
        return _Area(box["x"] + left, box["y"] + top, box["width"], box["height"], ratio)
    if not action.full_page:
        width, height = inner_width, inner_height
    if action.clip is None:
        return _Area(0 if action.full_page else left, 0 if action.full_page else top, width, height, ratio)
    x, y = max(0, action.clip.x), max(0, action.clip.y)
    clip = _Area(x, y, min(action.clip.width, width - x), min(action.clip.height, height - y), ratio)
    if clip.width <= 0 or clip.height <= 0:
        return None  # it is outside, which taking it says
    return clip if action.full_page else replace(clip, x=x + left, y=y + top)


async def _sizes(page: BrowserPage) -> list[float]:
    """Return the document's width and height, the window's place in it, and the window's size.

    Chromium's answer is safe from the page's scripts. In other engines the page itself answers, within plausible
    bounds.
    """
    if page.tab.cdp is None:
        answer = of_kind(list[object], await world.evaluate(page.playwright, _DOCUMENT_SIZE))
        return [_bounded(each, 0.0, _LONGEST_DOCUMENT, default=0.0) for each in answer]
    metrics = await page.tab.cdp.send("Page.getLayoutMetrics")
    document, window = metrics["cssContentSize"], metrics["cssVisualViewport"]
    names = ("pageX", "pageY", "clientWidth", "clientHeight")
    return [document["width"], document["height"], *(window[name] for name in names)]


def _bounded(value: object, least: float, most: float, *, default: float) -> float:
    """Bound a number that the page gave, which may be anything."""
    if isinstance(value, int | float) and math.isfinite(value):
        return min(most, max(least, float(value)))
    return default


async def _in_pieces(page: BrowserPage, action: Screenshot, area: _Area, options: Options) -> Picture:
    whole, longest = area, _LONGEST_SIDE[action.type] / area.ratio
    if action.type == "webp" and max(area.width, area.height) > longest:
        raise ValidationFailed(
            f"A webp picture has at most {_LONGEST_SIDE['webp']:,} pixels a side, and this one would have"
            f" {area.width * area.ratio:,.0f} x {area.height * area.ratio:,.0f}.",
            hint='Take png or jpeg, or a part: "fullPage": true with "clip": {"x": 0, "y": 0, ...}.',
            details=field_details("type"),
        )
    area = replace(area, width=min(area.width, longest))
    area = replace(area, height=min(area.height, longest, math.floor(MOST_PIXELS / area.ratio**2 / area.width)))
    pieces, height = await _pieces(page, action, area, options)
    data, size = await work_on(round(area.pixels), stitch, pieces, action.type, action.quality)
    cut = ""
    if whole.width > area.width or whole.height > height:
        cut = (
            f"the picture ends at {area.width:,.0f} x {height:,.0f} px of {whole.width:,.0f} x {whole.height:,.0f};"
            f' the rest: "fullPage": true with "clip": {{"x": {area.x:.0f}, "y": {area.y + height:.0f}, ...}}'
        )
    return Picture(data, *size, cut)


async def _pieces(page: BrowserPage, action: Screenshot, area: _Area, options: Options) -> tuple[list[bytes], float]:
    """Take pictures from top to bottom while there is time to join them; return them, and where they end."""
    rows = max(1, math.floor(_PIECE_PIXELS / area.ratio**2 / area.width))
    clock = asyncio.get_running_loop().time
    deadline, last_start = (clock() + share * action.allowed_ms() / 1000 for share in (1, _PIECES_SHARE))
    pieces: list[bytes] = []
    top = 0.0
    while top < area.height and (not pieces or clock() < last_start):
        height = min(rows, area.height - top)
        clip: Any = area.clip(top, height)  # Any: Playwright's own type of it
        left_ms = max(1.0, (deadline - clock()) * 1000)
        try:
            pieces.append(
                await page.playwright.screenshot(**options, type="png", full_page=True, clip=clip, timeout=left_ms)
            )
        except PlaywrightError as error:
            if not pieces or not (is_timeout(error) or _OUTSIDE in str(error)):
                raise
            break  # it takes too long, or the page has become shorter meanwhile
        top += height
    return pieces, top


def _opened(data: bytes) -> Picture:
    return Picture(data, *Image.open(io.BytesIO(data)).size)
