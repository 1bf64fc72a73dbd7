"""Holds back the windows that an agent's page would open before what the person looks at, in that person's browser."""

import asyncio
import json
import secrets
from collections.abc import Callable

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browser_service.host.scripts import call_of, script
from browser_service.host.world.ties import listen, open_session


class HeldWindows:
    """The windows that the documents of a page ask for, those in frames with a renderer of their own too."""

    def __init__(self, page: Page, on_asked: Callable[[str], None]) -> None:
        """`on_asked` is called with the URL of each window; with an empty text for one that is no mere URL."""
        self._page, self._on_asked = page, on_asked
        self._frames = set[Frame]()
        """The frames that have a session of their own, or are about to."""
        self._background = Background()

    async def hold(self, cdp: CDPSession) -> None:
        """Hold the page's windows from now on. `cdp` is the page's own session."""
        listen(self._page, "framenavigated", self._on_navigated)
        for frame in self._page.frames:
            self._on_navigated(frame)
        await self._hold_by(cdp)

    def _on_navigated(self, frame: Frame) -> None:
        if frame.parent_frame is not None and frame not in self._frames:
            self._frames.add(frame)
            self._background.spawn(self._hold_in(frame))

    async def _hold_in(self, frame: Frame) -> None:
        try:
            cdp = await open_session(self._page, frame)
            cdp.on("close", lambda _: self._frames.discard(frame))  # it has another renderer from now on
            await self._hold_by(cdp)
        except PlaywrightError:  # it has the renderer of its parent, or is gone
            self._frames.discard(frame)

    async def _hold_by(self, cdp: CDPSession) -> None:
        name = f"_{secrets.token_hex(8)}"
        cdp.on(
            "Runtime.bindingCalled", lambda event: self._on_asked(event["payload"]) if event["name"] == name else None
        )
        source = call_of(script("windows_behind"), json.dumps(name))
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Runtime.enable"),
            cdp.send("Runtime.addBinding", {"name": name}),
            cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": True}),
        )
