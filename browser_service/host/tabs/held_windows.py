"""Holds back the windows that an agent's page would open before what the person looks at, in that person's browser."""

import asyncio
import json
import secrets
from collections.abc import Callable

from playwright.async_api import CDPSession, Page

from browser_service.host.scripts import call_of, script
from browser_service.host.tabs.frame_processes import FrameProcesses


class HeldWindows:
    """The windows that the documents of a page ask for, those in frames with a renderer of their own too."""

    def __init__(self, page: Page, on_asked: Callable[[str], None]) -> None:
        """`on_asked` is called with the URL of each window; with an empty text for one that is no mere URL."""
        self._on_asked = on_asked
        self._frames = FrameProcesses(page, self._hold_by)

    async def hold(self, cdp: CDPSession) -> None:
        """Hold the page's windows from now on. `cdp` is the page's own session."""
        self._frames.watch()
        await self._hold_by(cdp)

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
