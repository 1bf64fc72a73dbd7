"""The title of a page: asked for behind the replies, since asking costs as much as an act."""

import asyncio
from collections.abc import Callable
from typing import Final

from browser_service.host.background import Background
from browser_service.host.page.life import Life
from browser_service.host.page.record import PageRecord
from browser_service.host.page.tab import Tab
from shared.events import HostEvent, PageChanged

_ERROR_PAGE: Final = "chrome-error:"
_AFTER_S: Final = 0.1


class Titles:
    """Keeps the title in a page's record up to date."""

    def __init__(
        self,
        record: PageRecord,
        tab: Callable[[], Tab | None],
        life: Callable[[], Life],
        emit: Callable[[HostEvent], None],
    ) -> None:
        self._record = record
        self._tab = tab
        self._life = life
        self._emit = emit
        self._asking: asyncio.TimerHandle | None = None
        self._background = Background()

    def note(self, title: str) -> None:
        """Keep the title that a look at the page has found."""
        if self._record.named(title):
            self._emit(PageChanged(page=self._record.state()))

    async def read(self) -> None:
        """Ask the tab for it, for 200 ms at most."""
        tab = self._tab()
        if tab is None or self._record.dialog or not self._life().live or tab.page.url.startswith(_ERROR_PAGE):
            return
        if (title := await tab.title()) is not None:
            self.note(title)

    def read_soon(self) -> None:
        """Ask for it behind the replies, once for many acts in a row."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.get_running_loop().call_later(_AFTER_S, lambda: self._background.spawn(self.read()))
