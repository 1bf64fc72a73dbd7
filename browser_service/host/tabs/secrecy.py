"""Takes pictures of a page for viewers who may see no secrets: a field for one is black once it has the focus."""

import asyncio
import base64
import io
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from PIL import Image, ImageDraw
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame
from pydantic import Field, ValidationError

from browser_service.host.elements.closed_fields import Found, UnknownPlaceError
from browser_service.host.scripts import script
from browser_service.host.tabs.cast import Sent
from browser_service.host.tabs.tab import Tab
from browser_service.pictures import flatten, work_on
from shared.frames import Box
from shared.model import Model


class Camera(Protocol):
    """A screencast, if it runs."""

    async def anew(self) -> Sent | None:
        """Return a picture taken from now on; None if there can be none."""

    def next_seq(self) -> int: ...


_WITHIN_S: Final = 0.5
_MOST_FIELDS: Final = 500
_MOST_FRAMES: Final = 20
_UNDRAWN_MS: Final = 1_000
"""A document that draws nothing for this long has nothing to draw, and the one before is not visible any more."""
_QUALITY: Final = 70
_MARGIN: Final = 4
_LARGEST: Final = 20_000
_ASKED: Final[Mapping[str, int]] = {"most": _MOST_FIELDS, "undrawnMs": _UNDRAWN_MS}
_SECRET_BOXES: Final = script("secret_boxes")


class Secrets(Model):
    """The places where secrets may be seen in a window of this width, in CSS pixels."""

    width: float = Field(gt=0, le=_LARGEST)
    boxes: list[Box]


class _Answer(Secrets):
    """The answer of a frame."""

    fields: int
    began: float
    zoomed: bool


class Shot(NamedTuple):
    """A picture of a page as JPEG, with the size of the viewport that it shows."""

    data: bytes
    width: int
    height: int


async def secrets_on(tab: Tab) -> Secrets | None:
    """Return where secrets may be seen; None if that is unknown, because the page does not answer, say. An inner frame
    with a field for a secret counts as one as a whole."""
    main, *inner = frames = tab.page.frames
    if len(frames) > _MOST_FRAMES:
        return None
    try:
        async with asyncio.timeout(_WITHIN_S):
            asked = [_asked(frame, guess=tab.cdp is None) for frame in frames]
            answers, total = await asyncio.gather(asyncio.gather(*asked), tab.closed_fields.count(tab.cdp))
            found = {frame: answer for frame, answer in zip(frames, answers, strict=True) if answer is not None}
            if len(found) < len(frames):
                return None
            closed = await _closed(tab, found, total)
            hiding = [frame for frame in inner if found[frame].boxes or closed.get(frame)]
            boxes = [await _box_of(frame, main) for frame in hiding]
    except (PlaywrightError, TimeoutError, ValidationError, UnknownPlaceError):  # it may have replaced what scripts use
        return None
    known = [*found[main].boxes, *closed.get(main, []), *(box for box in boxes if box is not None)]
    return Secrets(width=found[main].width, boxes=known) if None not in boxes else None


async def _asked(frame: Frame, *, guess: bool) -> _Answer | None:
    answer = await frame.evaluate(_SECRET_BOXES, {**_ASKED, "guess": guess})
    return None if answer is None else _Answer.model_validate(answer)


async def _closed(tab: Tab, found: Mapping[Frame, _Answer], total: int) -> dict[Frame, list[Box]]:
    """Return where secrets are in closed shadow roots. Raises UnknownPlaceError if that cannot be told."""
    if tab.cdp is None:
        return {}
    known = {frame: Found(answer.fields, answer.began) for frame, answer in found.items()}
    boxes = await tab.closed_fields.boxes(tab.cdp, known, total)
    if any(boxes.values()) and any(answer.zoomed for answer in found.values()):
        raise UnknownPlaceError
    return boxes


async def _box_of(frame: Frame, main: Frame) -> Box | None:
    """Return where in the window the frame is, or the outermost frame around it."""
    while frame.parent_frame is not None and frame.parent_frame is not main:
        frame = frame.parent_frame
    found = await (await frame.frame_element()).bounding_box()
    return Box(**found) if found is not None else None


async def shot_without_secrets(tab: Tab, most_width: int, camera: Camera | None = None) -> Shot | None:
    """Take a picture of the window, at most `most_width` wide, with black boxes over its secrets. Returns None if their
    places changed meanwhile, because then nobody knows where they are in the picture. `camera` takes the picture
    instead, if it can: at a third of the cost where a screencast runs."""
    before = await secrets_on(tab)
    if before is None:
        return None
    sent = None if camera is None else await camera.anew()
    shot = await _capture(tab) if sent is None else Shot(base64.b64decode(sent.data), sent.width, sent.height)
    if await secrets_on(tab) != before:
        return None
    if not before.boxes and Image.open(io.BytesIO(shot.data)).width <= most_width:
        return shot
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
    picture = flatten(Image.open(io.BytesIO(data)))
    picture.thumbnail((most_width, 2 * most_width))
    scale, draw = picture.width / secrets.width, ImageDraw.Draw(picture)
    for box in secrets.boxes:
        left, top = (box.x - _MARGIN) * scale, (box.y - _MARGIN) * scale
        right, bottom = (box.x + box.width + _MARGIN) * scale, (box.y + box.height + _MARGIN) * scale
        draw.rectangle((left, top, right, bottom), fill="black")
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()
