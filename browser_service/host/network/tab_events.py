"""Listens to a tab's events, unless there are too many: the events of all pages pass one driver and one event loop."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Final, cast

from playwright.async_api import ConsoleMessage, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from browser_service.host.elements.ties import ignore, listen
from browser_service.rules.window import Clock, Rate

PER_SECOND: Final = 250
"""The most requests, or console messages, per second. After more than that, we stop listening for a while."""
_DEAF_S: Final = 0.5
_ANSWERS: Final = frozenset({"response", "requestfinished", "requestfailed"})
"""Events that do not count towards the limit, because each belongs to a request that did."""


class TabListener:
    """A listener to the events of tabs, which overrides the methods for those that concern it."""

    def on_request(self, request: Request) -> None: ...

    def on_response(self, response: Response) -> None: ...

    def on_finished(self, request: Request) -> None: ...

    def on_failed(self, request: Request) -> None: ...

    def on_requests_missed(self) -> None:
        """Note that requests, and the ends of open ones, go unheard for a while."""

    def on_message(self, message: ConsoleMessage) -> None: ...

    def on_error(self, error: PlaywrightError) -> None: ...

    def on_messages_missed(self) -> None: ...


class TabEvents:
    """The events of one Playwright page, for all its listeners."""

    def __init__(self, page: Page, clock: Clock = time.time) -> None:
        self.listeners: list[TabListener] = []
        self._requests = _Hearing(
            *(page, clock, self, "on_requests_missed"),
            {
                "request": "on_request",
                "response": "on_response",
                "requestfinished": "on_finished",
                "requestfailed": "on_failed",
            },
        )
        self._console = _Hearing(
            *(page, clock, self, "on_messages_missed"), {"console": "on_message", "pageerror": "on_error"}
        )
        self.notices = Rate(PER_SECOND, 1, clock)
        """The rate limit of notices about what the page was refused."""
        self._requests.begin()

    def end(self) -> None:
        """Listen to nothing any more."""
        self.listeners.clear()
        self._requests.end()
        self._console.end()

    def hear_console(self) -> None:
        """Listen to the console and to script errors from now on. Until then, messages cost nothing."""
        self._console.begin()


class _Hearing:
    """Some kinds of events, with the listeners' methods for them. It pauses for a while after too many came within a
    second."""

    def __init__(self, page: Page, clock: Clock, events: TabEvents, missed: str, handlers: Mapping[str, str]) -> None:
        self._page, self._clock = page, clock
        self._events, self._missed = events, missed
        self._hears = {event: partial(self._hear, event, handler) for event, handler in handlers.items()}
        self._rate = Rate(PER_SECOND, 1)
        self._listens = self._ended = False

    def begin(self) -> None:
        if not (self._listens or self._ended or self._page.is_closed()):
            self._listens = True
            for event, hear in self._hears.items():
                listen(self._page, event, hear)

    def _hear(self, kind: str, handler: str, event: object) -> None:
        if kind not in _ANSWERS and not self._rate.allows(self._happened_at(kind, event)):
            self._pause()
            return
        for listener in self._events.listeners:
            getattr(listener, handler)(event)

    def _happened_at(self, kind: str, event: object) -> float:
        """Return when an event happened; for a message by the page's clock, because it may be late."""
        return cast("ConsoleMessage", event).timestamp / 1000 if kind == "console" else self._clock()

    def _pause(self) -> None:
        """Stop listening for a while, so that the driver does not even send the events."""
        if not self._listens:
            return
        self._stop()
        for listener in self._events.listeners:
            getattr(listener, self._missed)()
        asyncio.get_running_loop().call_later(_DEAF_S, self.begin)

    def end(self) -> None:
        """Stop listening for good."""
        self._ended = True
        self._stop()

    def _stop(self) -> None:
        self._listens = False
        for event, hear in self._hears.items():
            ignore(self._page, event, hear)
