"""Pictures a page for those who must see no secrets: a field for one is black once it has the focus."""

import asyncio
import base64
import io
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from PIL import Image, ImageDraw
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page
from pydantic import Field, ValidationError

from browser_service.host.cast import Sent
from browser_service.host.page.tab import Tab
from browser_service.host.scripts import script
from browser_service.pictures import flatten, work_on
from shared.frames import Box
from shared.model import Model

Anew = Callable[[], Awaitable[Sent | None]]

_WITHIN_S: Final = 0.5
_MOST_FIELDS: Final = 500
_MOST_FRAMES: Final = 20
_UNDRAWN_MS: Final = 1_000
"""A document that draws nothing for so long has nothing to draw, and the one before is not seen any more."""
_QUALITY: Final = 70
_MARGIN: Final = 4
_LARGEST: Final = 20_000
_SECRET_BOXES: Final = script("secret_boxes")


class Secrets(Model):
    """Says where secrets may be seen in a window of this width, in CSS pixels."""

    width: float = Field(gt=0, le=_LARGEST)
    boxes: list[Box]


class Shot(NamedTuple):
    """Is a picture of a page as JPEG, with the size of the viewport that it shows."""

    data: bytes
    width: int
    height: int


async def secrets_on(page: Page) -> Secrets | None:
    """Return where secrets may be seen. A frame with a field for one is a secret as a whole. Of a page that does not
    answer nothing is known."""
    if len(page.frames) > _MOST_FRAMES:
        return None
    main, *inner = page.frames
    try:
        async with asyncio.timeout(_WITHIN_S):
            found, *others = await asyncio.gather(*(_asked(frame) for frame in (main, *inner)))
            if found is None or None in others:
                return None
            hiding = [frame for frame, other in zip(inner, others, strict=True) if other is not None and other.boxes]
            boxes = [await _box_of(frame, main) for frame in hiding]
    except (PlaywrightError, TimeoutError, ValidationError):  # it may have replaced what scripts are made of
        return None
    known = [box for box in boxes if box is not None]
    return found.model_copy(update={"boxes": [*found.boxes, *known]}) if len(known) == len(boxes) else None


async def _asked(frame: Frame) -> Secrets | None:
    answer = await frame.evaluate(_SECRET_BOXES, {"most": _MOST_FIELDS, "undrawnMs": _UNDRAWN_MS})
    return None if answer is None else Secrets.model_validate(answer)


async def _box_of(frame: Frame, main: Frame) -> Box | None:
    """Return where the frame is in the window, or the one that it is in."""
    while frame.parent_frame is not None and frame.parent_frame is not main:
        frame = frame.parent_frame
    found = await (await frame.frame_element()).bounding_box()
    return Box(**found) if found is not None else None


async def shot_without_secrets(tab: Tab, most_width: int, anew: Anew | None = None) -> Shot | None:
    """Picture what the window shows, at most so wide, with black boxes over its secrets. None where they were not in
    the same place before and after, so that nobody knows where they are in the picture. `anew` makes a picture too,
    if it can: a third as dear, where a screencast runs."""
    before = await secrets_on(tab.page)
    if before is None:
        return None
    sent = None if anew is None else await anew()
    shot = await _capture(tab) if sent is None else Shot(base64.b64decode(sent.data), sent.width, sent.height)
    if await secrets_on(tab.page) != before:
        return None
    data = await work_on(shot.width * shot.height, _blackened, shot.data, before, most_width)
    return shot._replace(data=data)


async def _capture(tab: Tab) -> Shot:
    if tab.cdp is None:
        data = await tab.page.screenshot(type="jpeg", quality=_QUALITY, scale="css")
        return Shot(data, *Image.open(io.BytesIO(data)).size)
    asked = {"format": "jpeg", "quality": _QUALITY}
    shot, metrics = await asyncio.gather(
        tab.cdp.send("Page.captureScreenshot", asked), tab.cdp.send("Page.getLayoutMetrics")
    )
    window = metrics["cssLayoutViewport"]
    return Shot(base64.b64decode(shot["data"]), round(window["clientWidth"]), round(window["clientHeight"]))


def _blackened(data: bytes, secrets: Secrets, most_width: int) -> bytes:
    opened = Image.open(io.BytesIO(data))
    if opened.width <= most_width and not secrets.boxes:
        return data
    picture = flatten(opened)
    picture.thumbnail((most_width, 2 * most_width))
    scale, draw = picture.width / secrets.width, ImageDraw.Draw(picture)
    for box in secrets.boxes:
        left, top = (box.x - _MARGIN) * scale, (box.y - _MARGIN) * scale
        right, bottom = (box.x + box.width + _MARGIN) * scale, (box.y + box.height + _MARGIN) * scale
        draw.rectangle((left, top, right, bottom), fill="black")
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()
