"""Records a video of one page, and keeps it however the recording ends."""

import asyncio
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageOps
from playwright.async_api import Page, ScreencastFrame

from browse_together.contract.calls import Call
from browse_together.contract.errors import (
    BrowseError,
    NotInstalled,
    ResourceExhausted,
    TimedOut,
    ValidationFailed,
    field_details,
)
from browse_together.contract.installation import install_command
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.background import bounded
from browser_service.host.files import Files
from browser_service.host.record.record import PageRecord
from browser_service.host.world.ties import listen
from browser_service.security.origins import first_outside

if TYPE_CHECKING:
    from av import VideoFrame

MIME_TYPE: Final = "video/mp4"
_MILLISECONDS: Final = Fraction(1, 1000)
_CODEC: Final = "libx264"
_FAST: Final = {"preset": "ultrafast", "tune": "zerolatency", "crf": "26"}
"""This takes a seventh of the time of VP8, and every player has it."""
_MOST_BYTES: Final = 30_000_000
_MOST_AT_ONCE: Final = 4
"""A session runs this many recordings at once, because each holds its video in memory."""
_FIRST_WITHIN_S: Final = 3.0
_STORES_WITHIN_S: Final = 10.0
_JPEG_QUALITY: Final = 80
_LONGEST_SIDE: Final = 1_280
STOPPED: Final = "it was stopped"


def load_encoder() -> None:
    """Import the encoder, which takes 0.1 s and 20 MB. Raises NotInstalled, which says how to get it."""
    try:
        import av  # noqa: F401, PLC0415 - for those who record
    except ImportError as error:
        raise NotInstalled(
            f"Videos need the package av, which cannot be imported here: {error}.",
            hint=f"Whoever runs the service gets it by: {install_command('video')}. Then repeat the call.",
            details={"context": {"extra": "video"}},
        ) from error


class Video:
    """A video that shows each picture until the next, all in the first one's size. Encoding blocks: keep it off the
    event loop."""

    def __init__(self, first: bytes, most_bytes: int) -> None:
        import av  # noqa: PLC0415 - `load_encoder` tells where it is missing

        self._frame_of: Callable[[Image.Image], VideoFrame] = av.VideoFrame.from_image
        self.size = _even(Image.open(io.BytesIO(first)).size)
        self.frames = 0
        self.last_ms = -1
        self._most_bytes = most_bytes
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream(_CODEC, rate=25, options=_FAST)
        self._stream.width, self._stream.height = self.size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = _MILLISECONDS
        self._stream.codec_context.thread_count = 1
        self._latest = first

    @property
    def full(self) -> bool:
        return self._file.tell() >= self._most_bytes

    def show(self, picture: bytes, at_ms: int) -> None:
        self._latest = picture
        self.frames += 1
        self._encode(at_ms)

    def finish(self, at_ms: int) -> bytes:
        """Return the file, whose last picture lasts until `at_ms`."""
        self._encode(at_ms)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.getvalue()

    def _encode(self, at_ms: int) -> None:
        picture = Image.open(io.BytesIO(self._latest)).convert("RGB")
        fitting = picture if picture.size == self.size else ImageOps.pad(picture, self.size, color="black")
        frame = self._frame_of(fitting)
        self.last_ms = frame.pts = max(at_ms, self.last_ms + 1)
        frame.time_base = _MILLISECONDS
        self._container.mux(self._stream.encode(frame))


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Make both sides even, because the codec keeps colours for four pixels at a time."""
    return max(2, size[0] - size[0] % 2), max(2, size[1] - size[1] % 2)


class Recording:
    """A video in the making. If pictures come faster than `fps`, only the newest of them is taken."""

    def __init__(self, recorder: "Recorder", call: Call, files: Files, *, fps: int, max_seconds: int) -> None:
        self.client_id = call.client_id
        self.label = call.client_label or "another client"
        self._origins = tuple(call.origins)
        self._record = recorder.record
        self._page_id = recorder.record.page_id
        self._others = recorder.others
        self._files = files
        self._interval_s = 1 / fps
        self._max_s = max_seconds
        self._began_at = time.monotonic()
        self._picture: bytes | None = None
        self._has_picture = asyncio.Event()
        self._ended = asyncio.Event()
        self._reason = ""
        self._work: asyncio.Task[Json] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began_at

    async def begin(self, page: Page) -> None:
        """Begin to record. Raises ResourceExhausted if too many recordings run, TimedOut if the page shows nothing."""
        others = self._others
        if len(others) >= _MOST_AT_ONCE:
            raise ResourceExhausted(
                f"{_MOST_AT_ONCE} pages of this session are being recorded.",
                hint=f"End one of yours: {next_call('record_video', page_id='...', command='stop')}.",
            )
        others.add(self)
        try:
            await self._first(page)
        except BaseException:
            others.discard(self)
            await bounded(page.screencast.stop())
            raise
        listen(page, "close", lambda _: self._end("the page was closed"))
        listen(page, "crash", lambda _: self._end("the page crashed"))
        self._work = asyncio.create_task(self._run(page))
        is_over = f"its {self._max_s} s were over"
        self._timer = asyncio.get_running_loop().call_later(self._max_s - self.seconds, self._end, is_over)

    async def end(self, reason: str) -> Json:
        """End the recording and return its file. Raises the error of storing it, if there was one."""
        self._end(reason)
        assert self._work is not None  # noqa: S101 - only one that has begun is known to anybody
        async with asyncio.timeout(_STORES_WITHIN_S):
            return await asyncio.shield(self._work)

    async def _first(self, page: Page) -> None:
        size = page.viewport_size or {"width": _LONGEST_SIDE, "height": _LONGEST_SIDE}
        await page.screencast.start(
            on_frame=lambda frame: self._on_frame(page, frame),
            quality=_JPEG_QUALITY,
            size={"width": min(size["width"], _LONGEST_SIDE), "height": min(size["height"], _LONGEST_SIDE)},
        )
        if not await _wait_for(self._has_picture, _FIRST_WITHIN_S):
            raise TimedOut(
                f"{self._page_id} showed no picture within {_FIRST_WITHIN_S:.0f} s.",
                hint=f"Look whether it answers: {next_call('snapshot')}; else {next_call('reload_page')}.",
            )

    def _on_frame(self, page: Page, frame: ScreencastFrame) -> None:
        if not self.running:
            return
        if self._record.hidden_from(self.client_id):
            self._end("the page became private to somebody else")
            return
        if first_outside(self._origins, (each.url for each in page.frames)) is not None:
            self._end("the page came to another origin")
            return
        self._picture = frame["data"]
        self._has_picture.set()

    def _notify(self, text: str) -> None:
        self._record.tell(self.client_id, text)

    def _end(self, reason: str) -> None:
        if self.running:
            self._reason = reason
            self._ended.set()
            self._has_picture.set()
            if self._timer is not None:
                self._timer.cancel()

    async def _run(self, page: Page) -> Json:
        try:
            return await self._save_video()
        except BrowseError as error:
            self._notify(f"The video of {self._page_id} is lost: {error.message}")
            raise
        finally:
            self._end("it could not be kept")
            self._others.discard(self)
            await bounded(page.screencast.stop())

    async def _save_video(self) -> Json:
        video = await self._encode_all()
        data = await asyncio.to_thread(video.finish, self._now_ms())
        width, height = video.size
        artifact = await self._files.keep(data, MIME_TYPE, "video", inline=False)
        seconds = round(video.last_ms / 1000, 1)
        line = f"{seconds} s, {video.frames} pictures of {width} x {height}; it ended because {self._reason}"
        if self._reason != STOPPED:
            self._notify(
                f"The video of {self._page_id} is kept: {artifact['artifactId']}, {artifact['name']} ({line})."
            )
        facts: Json = {"seconds": seconds, "frames": video.frames, "width": width, "height": height}
        return {"observed": line, **facts, "artifact": artifact}

    async def _encode_all(self) -> Video:
        """Encode pictures until something ends the recording."""
        picture = await self._next()
        video = await asyncio.to_thread(Video, picture or b"", _MOST_BYTES)
        while picture is not None:
            await asyncio.to_thread(video.show, picture, self._now_ms())
            if video.full:
                self._end(f"it had grown to {_MOST_BYTES // 1_000_000} MB")
            await _wait_for(self._ended, self._interval_s)
            picture = await self._next()
        return video

    async def _next(self) -> bytes | None:
        """Wait for the newest picture that is not encoded yet. Returns None once the recording is over."""
        await self._has_picture.wait()
        picture, self._picture = self._picture, None
        if self.running:
            self._has_picture.clear()
        return picture

    def _now_ms(self) -> int:
        return round(self.seconds * 1000)


@dataclass(eq=False)
class Recorder:
    """The recorder of one page, which makes at most one video at a time."""

    record: PageRecord
    others: set[Recording]
    """The recordings that run in the page's session."""
    _recording: Recording | None = None

    @property
    def running(self) -> bool:
        return self._recording is not None and self._recording.running

    async def start(self, page: Page, call: Call, files: Files, *, fps: int, max_seconds: int) -> None:
        """Begin a recording. Raises ValidationFailed while another of the same page runs, NotInstalled without an
        encoder."""
        earlier = self._recording
        if earlier is not None and earlier.running:
            raise _wrong(
                f'"{self.record.page_id}" is being recorded by "{earlier.label}", for {earlier.seconds:.0f} s now.',
                f"End that first, who began it keeps it: {next_call('record_video', command='stop')}.",
            )
        await asyncio.to_thread(load_encoder)
        recording = Recording(self, call, files, fps=fps, max_seconds=max_seconds)
        await recording.begin(page)
        self._recording = recording

    async def end(self, reason: str) -> None:
        """End the recording, if one runs; its file stays for who began it."""
        if self._recording is not None and self._recording.running:
            await self._recording.end(reason)

    async def stop(self, call: Call) -> Json:
        """End the recording, unless it ended by itself, and return its file to the client that began it. Other clients
        get only a line about it."""
        recording, self._recording = self._recording, None
        if recording is None:
            raise _wrong(
                f'"{self.record.page_id}" is not being recorded.',
                f"Begin: {next_call('record_video', command='start')}.",
            )
        is_owner = recording.client_id == call.client_id
        result = await recording.end(STOPPED if is_owner else f'"{call.client_label}" stopped it')
        if is_owner:
            return result
        return {"observed": f'the video that "{recording.label}" was making has ended; it is kept for them'}


def _wrong(problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(problem, hint=hint, details=field_details("command"))


async def _wait_for(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
