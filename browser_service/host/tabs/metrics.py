"""Sets a page's size and pixel ratio, independently of its window."""

from typing import Final

from playwright.async_api import CDPSession, Page

from browser_service.host.network.guard import is_chromium
from shared.model import Json

_SET: Final = "Emulation.setDeviceMetricsOverride"
_CLEAR: Final = "Emulation.clearDeviceMetricsOverride"


class Metrics:
    """The size and pixel ratio of a page. They have a CDP session of their own: after a picture, Chromium restores what
    the picture's session had before it, and so would undo what was set meanwhile over the same session."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._cdp: CDPSession | None = None
        self.possible = is_chromium(page.context)
        """True if the browser can do it."""

    async def set(self, width: int, height: int, ratio: float, *, mobile: bool = False) -> None:
        """Set the size in CSS pixels, and in `ratio` the device pixels per CSS pixel."""
        if self._cdp is None:
            self._cdp = await self._page.context.new_cdp_session(self._page)
        metrics: Json = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        await self._cdp.send(_SET, metrics)

    async def clear(self) -> None:
        """Give the page back the size that Playwright set."""
        if self._cdp is not None:
            await self._cdp.send(_CLEAR)
