"""Takes small pictures of a page after acts, for their record. No act and no reply waits for that."""

import asyncio
import base64
import io
from typing import Final, Literal, NamedTuple

import structlog
from PIL import Image
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect
from browse_together.contract.background import Background
from browse_together.contract.errors import BrowseError
from browse_together.contract.frames import ActPicture
from browser_service.host.record.record import PageRecord
from browser_service.host.record.recording import Recorder
from browser_service.host.record.traces import Tracing
from browser_service.host.seam import ArtifactPort, CallKey
from browser_service.host.tabs.secrecy import secrets_on, shot_without_secrets
from browser_service.host.tabs.tab import Tab
from browser_service.host.watching.screencast import Screencast, ShownCall
from browser_service.pictures import flatten, work_on

Timeline = Literal["thumbnails", "watched", "off"]

_log = structlog.get_logger(__name__)

_PAINTED_S: Final = 0.05
"""Pause between an act and its picture: the page is drawn some frames later, and the next act may come at once."""
_WITHIN_S: Final = 3.0
_SIZE: Final = (640, 960)
_MOST_WIDTH: Final = 10_000
_QUALITIES: Final = (55, 35, 15)
MOST_BYTES: Final = 15_000


class Pictured(NamedTuple):
    """An act that is pictured once it has ended."""

    act: ShownCall
    before: str | None


class _Last(NamedTuple):
    """The last picture. It is the next act's picture from before if the same client acts, the URL has not changed, and
    nothing was done in between."""

    call_id: str
    made_by: tuple[str, str, int]


class Thumbnails:
    """The pictures of one page after its acts, taken one at a time. Of acts in quick succession only the last is
    pictured; its picture shows what all of them did.

    The page is asked for secrets before and after the picture, while no act runs there. A picture that the screencast
    sent by itself may be older than both questions, so the screencast takes a new one.
    """

    def __init__(
        self,
        record: PageRecord,
        screencast: Screencast,
        recorder: Recorder,
        tracing: Tracing,
        *,
        timeline: Timeline,
        artifacts: ArtifactPort,
    ) -> None:
        self._record, self._screencast = record, screencast
        self._recorder, self._tracing, self._timeline, self._artifacts = recorder, tracing, timeline, artifacts
        self._begun = self._running = 0
        self._ended: Pictured | None = None
        self._working = False
        self._last: _Last | None = None
        self._background = Background()

    @property
    def _wanted(self) -> bool:
        if self._timeline == "watched":
            return self._screencast.watched or self._recorder.running or self._tracing.running
        return self._timeline == "thumbnails"

    def begin(self, act: ShownCall) -> Pictured | None:
        """Note that an act begins. Returns None if it gets no picture."""
        run = act.run
        if run.action.effect is Effect.READS or not self._wanted:
            return None
        act.pictured = True
        self._screencast.hold()
        last, now = self._last, (run.call.client_id, self._record.url, self._begun)
        self._begun += 1
        self._running += 1
        return Pictured(act, last.call_id if last is not None and last.made_by == now else None)

    def finish(self, pictured: Pictured) -> None:
        """Note that an act has ended, and take its picture in the background."""
        self._running -= 1
        self._ended = pictured
        if not self._working:
            self._working = True
            self._background.spawn(self._work())

    async def _work(self) -> None:
        try:
            while self._ended is not None:
                await asyncio.sleep(_PAINTED_S)  # no event tells that the page is drawn
                ended, self._ended = self._ended, None
                if not self._running:  # else the act that runs is pictured when it ends
                    await self._picture(ended)
        finally:
            self._working = False

    async def _picture(self, ended: Pictured) -> None:
        tab, begun, url = self._record.tab, self._begun, self._record.url
        if tab is None or not self._record.live or self._record.dialog is not None:
            return
        try:
            async with asyncio.timeout(_WITHIN_S):
                seen = await _pictured(tab, self._screencast)
        except TimeoutError:
            seen = ActPicture(unseen="slow")
        except (PlaywrightError, OSError, ValueError):  # it ended
            return
        if begun != self._begun:
            return
        picture = seen.model_copy(update={"target": ended.act.target, "before": ended.before})
        key = CallKey.parse(ended.act.run.call.call_id)
        try:
            await self._artifacts.keep_picture(ended.act.run.call.client_id, key.call_id, picture)
        except BrowseError as error:  # a full disk, or the front is not reached
            _log.warning("a picture of an act cannot be kept", reason=str(error))
            return
        kept = _Last(ended.act.run.call.call_id, (ended.act.run.call.client_id, url, begun))
        self._last = kept if seen.data is not None else None


async def _pictured(tab: Tab, screencast: Screencast) -> ActPicture:
    """Return a small picture of the page, or why there is none."""
    shot = await shot_without_secrets(tab, _MOST_WIDTH, screencast)
    if shot is None:
        secrets = await secrets_on(tab)
        return ActPicture(unseen="secret" if secrets is not None and secrets.boxes else "slow")
    small = await work_on(shot.width * shot.height, _reduced, shot.data)
    return ActPicture(data=base64.b64encode(small).decode(), width=shot.width, height=shot.height)


def _reduced(data: bytes) -> bytes:
    opened = Image.open(io.BytesIO(data))
    if len(data) <= MOST_BYTES and opened.width <= _SIZE[0] and opened.height <= _SIZE[1]:
        return data  # small enough: encoding it again would take as long as all other work for an act
    scale = min(1.0, *(most / own for most, own in zip(_SIZE, opened.size, strict=True)))
    opened.draft("RGB", (round(opened.width * scale), round(opened.height * scale)))  # else it is decoded whole
    picture = flatten(opened)
    picture.thumbnail(_SIZE)
    while True:
        for quality in _QUALITIES:
            out = io.BytesIO()
            picture.save(out, "WEBP", quality=quality, method=2)
            if out.tell() <= MOST_BYTES:
                return out.getvalue()
        picture.thumbnail((picture.width * 2 // 3, picture.height))
