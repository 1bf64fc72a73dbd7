"""Listens to a tab's events, unless there are too many: the events of all pages pass one driver and one event loop."""

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol, cast

from playwright.async_api import ConsoleMessage, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from browser_service.rules.window import Clock, Rate

PER_SECOND: Final = 250
"""The most requests, or console messages, per second. After more than that, we stop listening for a while."""
_DEAF_S: Final = 0.5


class TabEvents:
    """The events of one Playwright page, for all its listeners."""

    def __init__(self, page: Page, clock: Clock = time.time) -> None:
        self.begun: list[Callable[[Request], None]] = []
        self.answered: list[Callable[[Response], None]] = []
        self.finished: list[Callable[[Request], None]] = []
        self.failed: list[Callable[[Request], None]] = []
        self.missed: list[Callable[[], None]] = []
        """Called when requests, and the ends of open ones, go unheard for a while."""
        self.messages: list[Callable[[ConsoleMessage], None]] = []
        self.errors: list[Callable[[PlaywrightError], None]] = []
        self.messages_missed: list[Callable[[], None]] = []
        self._requests = _Hearing(
            *(page, self.missed),
            request=(self.begun, lambda _: clock()),
            response=(self.answered, None),
            requestfinished=(self.finished, None),
            requestfailed=(self.failed, None),
        )
        self._console = _Hearing(
            *(page, self.messages_missed),
            console=(self.messages, lambda message: message.timestamp / 1000),  # by the page's clock: may be late
            pageerror=(self.errors, lambda _: clock()),
        )
        self.notices = Rate(PER_SECOND, 1, clock)
        """The rate limit of notices about what the page was refused."""
        self._requests.begin()

    def hear_console(self) -> None:
        """Listen to the console and to script errors from now on. Until then, messages cost nothing."""
        self._console.begin()


_When = Callable[..., float]
"""The function that returns when an event happened."""
_Kind = tuple[list[Callable[..., None]], _When | None]
"""The callbacks for a kind of events, and the time at which one counts towards the limit; None if none counts."""


class _Emitter(Protocol):
    """A Playwright object that takes listeners by any event's name; its own types list each name."""

    def on(self, event: str, f: Callable[..., None]) -> object: ...
    def remove_listener(self, event: str, f: Callable[..., None]) -> object: ...


class _Hearing:
    """The listener to some kinds of events. It pauses for a while after too many came within a second."""

    def __init__(self, page: Page, missed: list[Callable[[], None]], **kinds: _Kind) -> None:
        self._page, self._emitter, self._missed = page, cast("_Emitter", page), missed
        self._listeners = {event: self._listener(*kind) for event, kind in kinds.items()}
        self._rate = Rate(PER_SECOND, 1)
        self._listens = False

    def begin(self) -> None:
        if not (self._listens or self._page.is_closed()):
            self._listens = True
            for event, listener in self._listeners.items():
                self._emitter.on(event, listener)

    def _listener(self, told: list[Callable[..., None]], counts_at: _When | None) -> Callable[..., None]:
        def hear(event: object) -> None:
            if counts_at is not None and not self._rate.allows(counts_at(event)):
                self._pause()
                return
            for tell in told:
                tell(event)

        return hear

    def _pause(self) -> None:
        """Stop listening for a while, so that the driver does not even send the events."""
        if not self._listens:
            return
        self._listens = False
        for event, listener in self._listeners.items():
            self._emitter.remove_listener(event, listener)
        for tell in self._missed:
            tell()
        asyncio.get_running_loop().call_later(_DEAF_S, self.begin)
