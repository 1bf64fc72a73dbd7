"""Sets the size and the pixels that a page has, apart from the window that it is in."""

from typing import Final

from playwright.async_api import CDPSession, Page

from browser_service.host.network.guard import is_chromium
from shared.model import Json

_SET: Final = "Emulation.setDeviceMetricsOverride"
_CLEAR: Final = "Emulation.clearDeviceMetricsOverride"


class Metrics:
    """Sets them over a Chromium session of their own: when a picture is done, Chromium sets again what its session had
    when it began, and so would undo what was set meanwhile over the same one."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._cdp: CDPSession | None = None
        self.possible = is_chromium(page.context)
        """True where the browser can do it."""

    async def set(self, width: int, height: int, ratio: float, *, mobile: bool = False) -> None:
        """Set the size in CSS px, and how many pixels of the device each of these has."""
        if self._cdp is None:
            self._cdp = await self._page.context.new_cdp_session(self._page)
        metrics: Json = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        await self._cdp.send(_SET, metrics)

    async def clear(self) -> None:
        """Give the page back the size that Playwright set."""
        if self._cdp is not None:
            await self._cdp.send(_CLEAR)
