"""Takes the pictures of one tab, at the pace of its viewers."""

import asyncio
import base64
import contextlib
import io
import math
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from PIL import Image
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.frames import View

Show = Callable[[str, int, int], None]
"""The receiver of a JPEG in base64, and of the width and height of the viewport that it shows."""
_FRAME: Final = "Page.screencastFrame"
_ANEW_WITHIN_S: Final = 0.5
_HELD_FPS: Final = 4
"""Viewers with a higher rate also see what an act draws on its way."""
_HOLDS_S: Final = 0.3
_SCREENSHOT_S: Final = 1.0
_SCREENSHOT_WITHIN_MS: Final = 2_000


class Picture(NamedTuple):
    """A picture of a page, with the size of the viewport that it shows."""

    data: str
    """A JPEG in base64."""
    width: int
    height: int
    at: float
    seq: int
    navigations: int


class Sent(NamedTuple):
    """A picture as the browser sent it."""

    data: str
    width: int
    height: int


class Cast(Protocol):
    """A source of pictures from `begin` to `end`."""

    view: View

    async def begin(self) -> None: ...

    async def end(self) -> None: ...

    def hold(self) -> None:
        """Take no picture for a moment, because somebody calls `anew` soon."""

    async def anew(self) -> Sent | None:
        """Return a picture taken from now on, not one already under way; None if the browser or the page cannot give
        one."""


class ChromiumCast:
    """Chromium's screencast: a picture whenever the page changes, with the next ones held back until they are wanted.

    While a few pictures are not acknowledged, Chromium drops changes, even the last one. So if more than one was under
    way, we restart the screencast, which sends the page as it is then. Chromium copies even changes that it drops,
    which costs most of a picture, so we stop the screencast meanwhile. A page that does not change costs nothing.
    """

    def __init__(self, cdp: CDPSession, view: View, show: Show) -> None:
        self.view = view
        self._cdp = cdp
        self._show = show
        self._interval_s = 1 / view.fps
        self._unacknowledged = 0
        self._acknowledged_at = 0.0
        """When we last acknowledged a picture since the start, in Unix seconds, as in Chromium's own timestamps; 0 for
        never."""
        self._frame_id = 0
        self._starts = 0
        self._before_first: int | None = None
        """Chromium's number of the last start before ours. It numbers the starts, and each picture carries its start's
        number."""
        self._wanted_anew: dict[asyncio.Future[Sent], int] = {}
        """The waiting callers of `anew`, each with the number of our start from which its picture must come."""
        self._shown_at = 0.0
        self._shown = ""
        self._missed = 0
        """The number of consecutive intervals in which a picture came that was not shown."""
        self._stopped: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None
        self._over = False
        self._background = Background()

    async def begin(self) -> None:
        self._cdp.on(_FRAME, self._on_frame)
        with contextlib.suppress(PlaywrightError):  # the page has just gone
            await self._start()

    async def end(self) -> None:
        self._over = True
        self._cdp.remove_listener(_FRAME, self._on_frame)
        for timer in (self._timer, self._held):
            if timer is not None:
                timer.cancel()
        await self._stop()

    def hold(self) -> None:
        """Skip the picture of what an act draws on its way, which costs as much as all else that a tile does for the
        act. Skip nothing within the interval after a picture, so that viewers also see acts in quick succession."""
        loop, was_seen = asyncio.get_running_loop(), time.monotonic() - self._shown_at < self._interval_s
        if self._held is None and self.view.fps <= _HELD_FPS and not was_seen:
            self._held = loop.call_later(_HOLDS_S, lambda: self._background.spawn(self._resume()))
            self._pause()

    async def anew(self) -> Sent | None:
        if self._over:
            return None
        sent: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        self._wanted_anew[sent] = self._starts + 1
        self._background.spawn(self._resume())  # cut off half-way, it would leave the screencast stopped for ever
        try:
            async with asyncio.timeout(_ANEW_WITHIN_S):
                return await sent
        except TimeoutError:  # the page has just gone, or draws nothing
            return None
        finally:
            del self._wanted_anew[sent]

    def _pause(self) -> None:
        if self._stopped is None:
            self._stopped = asyncio.create_task(self._stop())

    async def _restart(self) -> None:
        """Make Chromium send the page as it is now."""
        if self._held is not None:
            self._held.cancel()
        stopped, self._stopped, self._held, self._unacknowledged = self._stopped, None, None, 0
        self._acknowledged_at = 0.0  # so that a differing clock cannot make us restart for ever
        if stopped is None:
            await asyncio.gather(self._stop(), self._start())
        else:
            await stopped  # a start must not overtake its stop
            if not self._over:  # else this start could follow the next cast's
                await self._start()

    async def _resume(self) -> None:
        if not self._over:
            with contextlib.suppress(PlaywrightError):  # the page has just gone
                await self._restart()

    async def _stop(self) -> None:
        with contextlib.suppress(PlaywrightError):  # the page has just gone
            await self._cdp.send("Page.stopScreencast")

    async def _start(self) -> None:
        self._starts += 1
        size = {"maxWidth": self.view.width, "maxHeight": 2 * self.view.width}
        await self._cdp.send("Page.startScreencast", {"format": "jpeg", "quality": self.view.quality, **size})

    def _on_frame(self, event: dict[str, Any]) -> None:  # Any: as the protocol has it
        if self._over:
            return
        self._unacknowledged += 1
        self._frame_id = event["sessionId"]
        if self._before_first is None:
            self._before_first = self._frame_id - 1
        now, facts = time.monotonic(), event["metadata"]
        if facts.get("timestamp", math.inf) < self._acknowledged_at:  # it was already under way with the one before
            self._unacknowledged += 1
        sent = Sent(event["data"], round(facts["deviceWidth"]), round(facts["deviceHeight"]))
        awaited = [each for each, start in self._wanted_anew.items() if self._frame_id - self._before_first >= start]
        for waiting in awaited:
            if not waiting.done():
                waiting.set_result(sent)
        if awaited or now - self._shown_at >= self._interval_s:  # after an awaited one no other may come
            self._take(sent, now)
        elif self._stopped is None:
            self._missed += 1
            self._pause()
        if self._timer is None and (self._stopped or not awaited):  # two more come by themselves after an awaited one
            later = max(0.0, self._shown_at + self._interval_s - now)
            self._timer = asyncio.get_running_loop().call_later(later, self._go_on)

    def _take(self, sent: Sent, now: float) -> None:
        """Show a picture. If the page changes all the time, stop the screencast until the next one is due."""
        if sent.data == self._shown:
            self._missed = 0
        self._shown, self._shown_at = sent.data, now
        self._show(*sent)
        if self._missed > 1:
            self._pause()

    def _go_on(self) -> None:
        self._timer = None
        self._background.spawn(self._ask_for_next())

    async def _ask_for_next(self) -> None:
        if self._over or self._held is not None:
            return
        if self._stopped is not None or self._unacknowledged > 1:
            await self._resume()
            return
        self._unacknowledged = self._missed = 0
        self._acknowledged_at = time.time()
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.screencastFrameAck", {"sessionId": self._frame_id})


class ScreenshotCast:
    """A picture of the page each second, for a browser that sends none by itself."""

    def __init__(self, page: Page, view: View, show: Show) -> None:
        self.view = view
        self._page = page
        self._show = show
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def hold(self) -> None:
        return None

    async def anew(self) -> Sent | None:
        return None

    async def _run(self) -> None:
        quality, wait_ms = self.view.quality, _SCREENSHOT_WITHIN_MS
        while not self._page.is_closed():
            with contextlib.suppress(PlaywrightError):  # it navigates, or hangs
                data = await self._page.screenshot(type="jpeg", quality=quality, scale="css", timeout=wait_ms)
                self._show(base64.b64encode(data).decode(), *Image.open(io.BytesIO(data)).size)
            await asyncio.sleep(max(_SCREENSHOT_S, 1 / self.view.fps))  # no event tells that it changes
