"""Passes a tab's events on to all that listen to it."""

import time
from functools import partial
from typing import Final

from playwright.async_api import ConsoleMessage, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from browser_service.host.world.ties import ignore, listen
from browser_service.rules.window import Rate

_NOTICES_A_SECOND: Final = 250
_OF_REQUESTS: Final = {
    "request": "on_request",
    "response": "on_response",
    "requestfinished": "on_finished",
    "requestfailed": "on_failed",
}
_OF_CONSOLE: Final = {"console": "on_message", "pageerror": "on_error"}


class TabListener:
    """A listener to the events of tabs, which overrides the methods for those that concern it."""

    def on_request(self, request: Request) -> None: ...

    def on_response(self, response: Response) -> None: ...

    def on_finished(self, request: Request) -> None: ...

    def on_failed(self, request: Request) -> None: ...

    def on_message(self, message: ConsoleMessage) -> None: ...

    def on_error(self, error: PlaywrightError) -> None: ...


class TabEvents:
    """The events of one Playwright page, for all its listeners."""

    def __init__(self, page: Page) -> None:
        self.listeners: list[TabListener] = []
        self._page = page
        self._hears = {event: partial(self._hear, handler) for event, handler in (_OF_REQUESTS | _OF_CONSOLE).items()}
        self.notices = Rate(_NOTICES_A_SECOND, 1, time.time)
        """The rate limit of notices about what the page was refused."""
        for event in _OF_REQUESTS:
            listen(page, event, self._hears[event])

    def end(self) -> None:
        """Listen to nothing any more."""
        self.listeners.clear()
        for event, hear in self._hears.items():
            ignore(self._page, event, hear)

    def hear_console(self) -> None:
        """Listen to the console and to script errors from now on. Until then, messages cost nothing."""
        for event in _OF_CONSOLE:
            listen(self._page, event, self._hears[event])

    def _hear(self, handler: str, event: object) -> None:
        for listener in self.listeners:
            getattr(listener, handler)(event)
