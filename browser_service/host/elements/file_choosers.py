"""Notices the file choosers that acts open on one page."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from playwright.async_api import FileChooser, Page

from browser_service.host.world.ties import ignore, listen

_EVENT: Final = "filechooser"


class ChooserHand(Protocol):
    """The hand of a person, whose clicks may open choosers."""

    def note_chooser(self, chooser: FileChooser) -> None:
        """Note a chooser that no act opened."""


class FileChoosers:
    """The listener for file choosers. Where nobody sees the window, it listens all the time, else only during an act: a
    person's own clicks must open the system's chooser."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.lasting = False
        """Whether it also listens outside of acts."""
        self._opened: asyncio.Future[FileChooser] | None = None
        self.hand: ChooserHand | None = None

    def listen(self) -> None:
        """Listen all the time, which saves each act two messages."""
        if not self.lasting:
            self.lasting = True
            listen(self._page, _EVENT, self._note)

    def rest(self) -> None:
        """Listen only during acts."""
        if self.lasting:
            self.lasting = False
            ignore(self._page, _EVENT, self._note)

    @contextmanager
    def during_act(self) -> "Iterator[asyncio.Future[FileChooser]]":
        """Yield a future for the first chooser that the act opens."""
        self._opened = opened = asyncio.get_running_loop().create_future()
        if not self.lasting:
            listen(self._page, _EVENT, self._note)
        try:
            yield opened
        finally:
            self._opened = None
            if not self.lasting:
                ignore(self._page, _EVENT, self._note)

    def _note(self, chooser: FileChooser) -> None:
        if self._opened is not None and not self._opened.done():
            self._opened.set_result(chooser)
        elif self._opened is None and self.hand is not None:
            self.hand.note_chooser(chooser)
