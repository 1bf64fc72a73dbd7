"""Reads the title of a page after the replies, because asking for it costs as much as an act."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.tabs.record import ERROR_PAGE, PageRecord
from shared.background import Background

_AFTER_S: Final = 0.1


@dataclass(eq=False)
class Titles:
    """The title in a page's record, kept up to date."""

    record: PageRecord
    current: CurrentTab
    _timer: asyncio.TimerHandle | None = None
    _background: Background = field(default_factory=Background)

    def note(self, title: str) -> None:
        """Note the title that a look at the page has found."""
        if self.record.rename(title):
            self.record.tell_changed()

    async def read(self) -> None:
        """Ask the tab for its title, for 200 ms at most."""
        tab = self.current.tab
        if tab is None or self.record.dialog or not self.current.live or tab.page.url.startswith(ERROR_PAGE):
            return
        if (title := await tab.title()) is not None:
            self.note(title)

    def read_soon(self) -> None:
        """Ask for the title after the replies, once for many acts in a row."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_AFTER_S, lambda: self._background.spawn(self.read()))
