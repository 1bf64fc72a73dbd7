"""Takes pictures of a page for viewers who may see no secrets: a field for one is black once it has the focus."""

import asyncio
import base64
import io
import math
import time
from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple, Protocol

from PIL import Image, ImageDraw
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame
from pydantic import Field, ValidationError

from browse_together.contract.frames import Box
from browse_together.contract.model import Model
from browser_service.host import world
from browser_service.host.elements.closed_fields import Found, UnknownPlaceError
from browser_service.host.scripts import script
from browser_service.host.tabs.cast import Picture, Sent
from browser_service.host.tabs.tab import Tab
from browser_service.pictures import flatten, work_on

_EVERY_S: Final = 1.0
_GAP_S: Final = 0.2
"""The shortest time between two pictures, over all pages, because each costs 30 ms of CPU."""
_LATE_S: Final = 0.5
"""A picture of the screencast comes at most this late."""
_UNKNOWN_S: Final = 1.0
"""For this long viewers keep the last picture of a page that does not tell where its secrets are."""
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


class Camera(Protocol):
    """A screencast, if it runs."""

    async def anew(self) -> Sent | None:
        """Return a picture taken from now on; None if there can be none."""

    def next_seq(self) -> int: ...


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
    answer = await world.evaluate(frame, _SECRET_BOXES, {**_ASKED, "guess": guess})
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


class MaskedPictures:
    """The pictures of one page that show no secrets. The screencast's own pass while no secret can be on them.
    Otherwise we take pictures now and then, with black boxes, because nobody knows where a field was when a
    screencast's picture was taken."""

    _last_turn: ClassVar[float] = 0.0
    """The latest turn to take a picture that any page was given."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._turn = math.inf
        self._own: Picture | None = None
        self._of = 0
        """The `seq` of the screencast's picture that we passed on, or after which we took our own."""
        self._navigations = 0
        self._harmless_since: float | None = None
        self._unknown_since: float | None = None

    @property
    def hidden(self) -> bool:
        """True if it has been unknown for too long where the secrets are."""
        return self._unknown_since is not None and time.monotonic() - self._unknown_since > _UNKNOWN_S

    async def instead_of(self, newest: Picture, tab: Tab, width: int, *, is_current: bool) -> Picture | None:
        """Return the picture to show now; None if no new one may be shown. For a picture that was judged before, the
        page is not asked again."""
        if newest.seq == self._of and self._unknown_since is None:
            return self._own or newest
        if newest.navigations != self._navigations:  # nothing is known of a new document
            self._navigations, self._harmless_since = newest.navigations, None
        if self._harmless_since is None and self._own is not None and time.monotonic() - self._own.at < _EVERY_S:
            return self._own
        secrets, now = await secrets_on(tab), time.monotonic()
        if secrets is None:
            self._harmless_since, self._unknown_since = None, self._unknown_since or now
            return None
        self._harmless_since = None if secrets.boxes else self._harmless_since or now
        if is_current and self._harmless_since is not None and newest.at > self._harmless_since + _LATE_S:
            self._unknown_since = None
            return self._passed_on(newest)
        if self._has_turn(now):
            self._turn = math.inf
            await self._make(newest, tab, width)
        return self._own

    def _has_turn(self, now: float) -> bool:
        """Say if it is the page's turn to be pictured; give it a turn if it has none."""
        if self._turn == math.inf:
            self._turn = MaskedPictures._last_turn = max(now, MaskedPictures._last_turn + _GAP_S)
        return now >= self._turn

    def _passed_on(self, newest: Picture) -> Picture:
        """Return the screencast's picture, numbered after any that we took meanwhile."""
        if self._own is None or newest.seq > self._own.seq:
            self._own, self._of = None, newest.seq
            return newest
        if self._of < newest.seq:
            self._own, self._of = newest._replace(seq=self._camera.next_seq()), newest.seq
        return self._own

    async def _make(self, newest: Picture, tab: Tab, width: int) -> None:
        try:
            shot = await shot_without_secrets(tab, width, self._camera)
        except (PlaywrightError, OSError, ValueError):  # the page has just gone, or shows nothing
            shot = None
        if shot is None:
            self._unknown_since = self._unknown_since or time.monotonic()
            return
        self._unknown_since, self._of = None, newest.seq
        data = base64.b64encode(shot.data).decode()
        made = Picture(data, shot.width, shot.height, time.monotonic(), self._camera.next_seq(), newest.navigations)
        self._own = made
