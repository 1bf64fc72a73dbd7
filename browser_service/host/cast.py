"""Makes the pictures of one tab, at the pace of those who watch it."""

import asyncio
import base64
import contextlib
import io
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from PIL import Image
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from shared.frames import View

Show = Callable[[str, int, int], None]
"""Takes a JPEG in base64, and the size of the viewport that it shows."""
_FRAME: Final = "Page.screencastFrame"
_ANEW_WITHIN_S: Final = 0.5
_SCREENSHOT_S: Final = 1.0
_SCREENSHOT_WITHIN_MS: Final = 2_000


class Picture(NamedTuple):
    """Is a picture of a page, with the size of the viewport that it shows."""

    data: str
    """Is a JPEG in base64."""
    width: int
    height: int
    at: float
    seq: int
    navigations: int
    """Counts those of the page before it."""


class Sent(NamedTuple):
    """Is a picture as the browser sent it."""

    data: str
    width: int
    height: int


class Cast(Protocol):
    """Makes pictures from `begin` to `end`."""

    view: View

    async def begin(self) -> None: ...

    async def end(self) -> None: ...

    async def anew(self) -> Sent | None:
        """Return a picture that is made from now on, and none that was under way; None from a browser that cannot."""


class ChromiumCast:
    """Has Chromium send a picture whenever the page changes, and holds its next ones back until they are wanted.

    Chromium drops what changes while two pictures are not acknowledged, the last change too. So where more came than
    one, it is told to begin anew, which sends the page as it is then. A page that does not change costs nothing."""

    def __init__(self, cdp: CDPSession, view: View, show: Show) -> None:
        self.view = view
        self._cdp = cdp
        self._show = show
        self._interval_s = 1 / view.fps
        self._unacknowledged = 0
        self._frame_id = 0
        self._has_unshown = False
        self._starts = 0
        self._before_first: int | None = None
        """Is the number that Chromium gave the last start before ours: it counts them, and each picture has its own."""
        self._wanted_anew: dict[asyncio.Future[Sent], int] = {}
        """Holds after which of our starts a picture is to be made that somebody waits for."""
        self._shown_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        self._background = Background()

    async def begin(self) -> None:
        self._cdp.on(_FRAME, self._on_frame)
        with contextlib.suppress(PlaywrightError):  # the page has just gone
            await self._start()

    async def end(self) -> None:
        self._over = True
        self._cdp.remove_listener(_FRAME, self._on_frame)
        if self._timer is not None:
            self._timer.cancel()
        with contextlib.suppress(PlaywrightError):
            await self._cdp.send("Page.stopScreencast")

    async def anew(self) -> Sent | None:
        sent: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        self._wanted_anew[sent] = self._starts + 1
        try:
            async with asyncio.timeout(_ANEW_WITHIN_S):
                await self._restart()
                return await sent
        except (PlaywrightError, TimeoutError):  # the page has just gone, or draws nothing
            return None
        finally:
            del self._wanted_anew[sent]

    async def _restart(self) -> None:
        """Have Chromium send the page as it is now."""
        self._unacknowledged = 0
        await asyncio.gather(self._cdp.send("Page.stopScreencast"), self._start())

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
        sent = Sent(event["data"], round(facts["deviceWidth"]), round(facts["deviceHeight"]))
        awaited = [each for each, start in self._wanted_anew.items() if self._frame_id - self._before_first >= start]
        for waiting in awaited:
            if not waiting.done():
                waiting.set_result(sent)
        if awaited or now - self._shown_at >= self._interval_s:  # after an awaited one no other may come
            self._shown_at, self._has_unshown = now, False
            self._show(*sent)
        else:
            self._has_unshown = True
        if self._timer is None:
            later = max(0.0, self._shown_at + self._interval_s - now)
            self._timer = asyncio.get_running_loop().call_later(later, self._go_on)

    def _go_on(self) -> None:
        self._timer = None
        self._background.spawn(self._ask_for_next())

    async def _ask_for_next(self) -> None:
        missed, self._unacknowledged = self._has_unshown or self._unacknowledged > 1, 0
        if self._over:
            return
        with contextlib.suppress(PlaywrightError):
            if missed:
                await self._restart()
            else:
                await self._cdp.send("Page.screencastFrameAck", {"sessionId": self._frame_id})


class ScreenshotCast:
    """Takes a picture of the page each second, in a browser that sends none by itself."""

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

    async def anew(self) -> Sent | None:
        return None

    async def _run(self) -> None:
        quality, wait_ms = self.view.quality, _SCREENSHOT_WITHIN_MS
        while not self._page.is_closed():
            with contextlib.suppress(PlaywrightError):  # it navigates, or hangs
                data = await self._page.screenshot(type="jpeg", quality=quality, scale="css", timeout=wait_ms)
                self._show(base64.b64encode(data).decode(), *Image.open(io.BytesIO(data)).size)
            await asyncio.sleep(max(_SCREENSHOT_S, 1 / self.view.fps))  # it does not say when it changes
