"""Reaches the frames of a page that have a renderer of their own, which the page's session does not."""

from collections.abc import Awaitable, Callable

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browser_service.host.world.ties import listen, open_session


class FrameProcesses:
    """The sessions of such frames, each opened once its frame has a document."""

    def __init__(self, page: Page, enter: Callable[[CDPSession], Awaitable[object]]) -> None:
        """`enter` is called with each session."""
        self._page, self._enter = page, enter
        self._frames = set[Frame]()
        """The frames that have a session of their own, or are about to."""
        self._background = Background()

    def watch(self, wanted: Callable[[Frame], Awaitable[bool]] | None = None) -> None:
        """Enter them from now on; only those that are `wanted`."""

        def on_navigated(frame: Frame) -> None:
            if frame.parent_frame is not None and frame not in self._frames:
                self._frames.add(frame)
                self._background.spawn(self._reach(frame, wanted))

        listen(self._page, "framenavigated", on_navigated)
        for frame in self._page.frames:
            on_navigated(frame)

    async def _reach(self, frame: Frame, wanted: Callable[[Frame], Awaitable[bool]] | None) -> None:
        try:
            if wanted is not None and not await wanted(frame):
                self._frames.discard(frame)
                return
            cdp = await open_session(self._page, frame)
            cdp.on("close", lambda _: self._frames.discard(frame))  # it has another renderer from now on
            await self._enter(cdp)
        except PlaywrightError:  # it has the renderer of its parent, or is gone
            self._frames.discard(frame)
