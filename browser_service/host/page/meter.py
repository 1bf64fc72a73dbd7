"""Meters what a tab makes happen: the events of all pages pass one driver and one event loop, where a flood of one page
delays everybody.

Requests and messages of the console are only heard while there are few. Of the rest no event can be left unheard, so
that a tab that goes on and on is given up.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final

from playwright.async_api import ConsoleMessage, Frame, Page, Request, Response, WebSocket
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.rules.budget import Budget

MESSAGES: Final = 200
"""The console of a page that writes more within a second is ignored for a while."""
_DEAF_S: Final = 0.5
_SLOW_S: Final = 0.3
"""Requests that go on and on are a flood where the browser takes so long to answer a question that costs it nothing."""
_PROBE_S: Final = 2.0
_DEAF_TO_CONSOLE_S: Final = 0.15
_FLOOD: Final = 4.0
"""A console is a flood where scripts write so many times more messages than are followed, and go on when they are heard
again."""
_FLOOD_TIMES: Final = 3
_FEW: Final = 20
"""Fewer messages show nothing."""
_LATE_S: Final = 0.25
"""Messages of a loud console that come so late delay everybody's already."""
_CHARACTERS: Final = 20_000
"""So many characters cost as much as one event."""
_ADDRESS: Final = 10


class Kind(StrEnum):
    """Is a kind of events that cannot be left unheard, in the words in which a client is told of too many."""

    ERRORS = "errors of scripts"
    NAVIGATIONS = "navigations"
    FRAMES = "frames"
    WORKERS = "workers"
    SOCKETS = "websockets"
    SOCKET_MESSAGES = "messages by websocket"
    DIALOGS = "dialogs"
    DOWNLOADS = "downloads"
    CONSOLE = "messages of the console"
    BODIES = "bodies of requests"
    TITLES = "changes of its title"
    REQUESTS = "requests"
    REFUSED = "requests that a rule refuses"


_COSTS: Final = {
    Kind.ERRORS: 2.0,
    Kind.NAVIGATIONS: 0.5,
    Kind.FRAMES: 2.0,
    Kind.WORKERS: 3.0,
    Kind.SOCKETS: 4.0,
    Kind.SOCKET_MESSAGES: 0.5,
    Kind.DIALOGS: 4.0,
    Kind.DOWNLOADS: 2.0,
    Kind.CONSOLE: 0.0,
    Kind.BODIES: 0.0,
    Kind.TITLES: 1.0,
    Kind.REQUESTS: 0.0,
    Kind.REFUSED: 4.0,
}
"""What one event costs everybody, beside a request; long texts cost more."""


class EventMeter:
    """Hears the requests and the console of one Playwright page for all who want to, and counts the rest."""

    def __init__(self, page: Page, per_second: int, on_flood: Callable[[Kind], None]) -> None:
        """`per_second`: how many events are followed; 0 is no limit."""
        self.begun: list[Callable[[Request], None]] = []
        self.answered: list[Callable[[Response], None]] = []
        self.finished: list[Callable[[Request], None]] = []
        self.failed: list[Callable[[Request], None]] = []
        self.missed: list[Callable[[], None]] = []
        """Are told that requests, and the ends of those that are open, go unheard for a while."""
        self.messages: list[Callable[[ConsoleMessage], None]] = []
        self.messages_missed: list[Callable[[], None]] = []
        self.errors: list[Callable[[PlaywrightError], None]] = []
        self.socket_messages = 0
        """Counts what went by WebSockets: what is answered there, no request tells of."""
        self.probe: Callable[[], Awaitable[object]] | None = None
        """Asks the browser something that costs it nothing."""
        self._page = page
        self._on_flood = on_flood
        self._background = Background()
        self._slow = False
        self._heard_again = 0.0
        self._requests = Budget(per_second, per_second)
        self._messages = Budget(MESSAGES, MESSAGES if per_second else 0)
        self._rest = Budget(per_second, per_second)
        self._flood_rate = per_second * _FLOOD
        self._heard = 0
        self._heard_from = self._deaf_from = 0.0
        self._loud_times = 0
        self._over = self._hears_requests = self._hears_console = False
        self._hear_requests()
        page.on("pageerror", self._on_error)
        page.on("framenavigated", self._on_navigated)
        page.on("frameattached", lambda _: self.spend(Kind.FRAMES))
        page.on("worker", lambda _: self.spend(Kind.WORKERS))
        page.on("websocket", self._on_socket)
        page.on("download", lambda _: self.spend(Kind.DOWNLOADS))

    def spend(self, kind: Kind, characters: int = 0) -> None:
        """Count an event that comes whether anybody listens or not."""
        if not self._over and not self._rest.spend(_COSTS[kind] + characters / _CHARACTERS):
            self._flooded(kind)

    def hear_console(self) -> None:
        """Listen to the console from now on. Until somebody does, its messages cost nothing."""
        if not (self._over or self._hears_console or self._page.is_closed()):
            self._hears_console, self._heard = True, 0
            self._page.on("console", self._on_message)

    def _ignore_console(self) -> None:
        if self._hears_console:
            self._hears_console = False
            self._page.remove_listener("console", self._on_message)

    def _flooded(self, kind: Kind) -> None:
        if not self._over:
            self._over = True
            self._unsubscribe()
            self._ignore_console()
            self._page.remove_listener("pageerror", self._on_error)
            self._on_flood(kind)

    # --- requests ------------------------------------------------------------------------------------------------

    def _hear_requests(self) -> None:
        if self._over or self._page.is_closed():
            return
        self._hears_requests = True
        self._page.on("request", self._on_request)
        self._page.on("response", self._on_response)
        self._page.on("requestfinished", self._on_finished)
        self._page.on("requestfailed", self._on_failed)

    def _ignore_requests(self) -> None:
        """Stop listening to all of them for a while."""
        self._unsubscribe()
        for tell in self.missed:
            tell()
        self._background.spawn(self._pause())

    async def _pause(self) -> None:
        """Listen again after a while, or never where everybody was kept waiting this time and the last."""
        again = time.monotonic() - self._heard_again < _PROBE_S
        took_s = await self._lag()
        was_slow, self._slow = self._slow and again, took_s > _SLOW_S
        if self._slow and was_slow:
            self._flooded(Kind.REQUESTS)
            return
        await asyncio.sleep(max(0.0, _DEAF_S - took_s))  # no event ends the pause
        self._heard_again = time.monotonic()
        self._hear_requests()

    async def _lag(self) -> float:
        """Return how long the browser takes to answer, s."""
        began = time.monotonic()
        if self.probe is not None:
            with contextlib.suppress(TimeoutError, PlaywrightError):
                async with asyncio.timeout(_PROBE_S):
                    await self.probe()
        return time.monotonic() - began

    def _unsubscribe(self) -> None:
        """Have the driver not even send them."""
        if not self._hears_requests:
            return
        self._hears_requests = False
        self._page.remove_listener("request", self._on_request)
        self._page.remove_listener("response", self._on_response)
        self._page.remove_listener("requestfinished", self._on_finished)
        self._page.remove_listener("requestfailed", self._on_failed)

    def _on_request(self, request: Request) -> None:
        if request.method != "GET" and (body := request.post_data_buffer):
            self.spend(Kind.BODIES, len(body))
        if not self._requests.spend(1):
            self._ignore_requests()
            return
        for tell in self.begun:
            tell(request)

    def _on_response(self, response: Response) -> None:
        for tell in self.answered:
            tell(response)

    def _on_finished(self, request: Request) -> None:
        for tell in self.finished:
            tell(request)

    def _on_failed(self, request: Request) -> None:
        for tell in self.failed:
            tell(request)

    # --- the rest ------------------------------------------------------------------------------------------------

    def _on_message(self, message: ConsoleMessage) -> None:
        written_at = message.timestamp / 1000  # by the page's clock, because messages may come late
        if written_at < self._deaf_from:
            return  # it is of what was too much before
        if characters := len(message.text) // _CHARACTERS * _CHARACTERS:
            self.spend(Kind.CONSOLE, characters)
        self._heard_from = self._heard_from if self._heard else written_at
        self._heard += 1
        loud = self._heard > max(_FEW, (written_at - self._heard_from) * self._flood_rate)
        late_s = time.time() - written_at
        if (late_s < _LATE_S or not loud) and self._messages.spend(1):
            for tell in self.messages:
                tell(message)
        else:
            self._overheard(late_s, loud=loud)

    def _overheard(self, late_s: float, *, loud: bool) -> None:
        """Listen to the console no more for a while, or never where it was as loud each time: a script that writes a
        few thousand messages once may take a second for it, where the machine is busy."""
        self._ignore_console()
        self._loud_times, self._deaf_from = self._loud_times + 1 if loud else 0, time.time()
        if self._loud_times == _FLOOD_TIMES:
            self._flooded(Kind.CONSOLE)
            return
        for tell in self.messages_missed:
            tell()
        asyncio.get_running_loop().call_later(_DEAF_TO_CONSOLE_S + min(late_s, _DEAF_S), self.hear_console)

    def _on_error(self, error: PlaywrightError) -> None:
        self.spend(Kind.ERRORS, len(error.message) + len(error.stack or ""))
        for tell in self.errors:
            tell(error)

    def _on_navigated(self, frame: Frame) -> None:
        # an address of a site is sent around four times, and none that is meant well has many thousand characters
        self.spend(Kind.NAVIGATIONS, len(frame.url) * (_ADDRESS if frame.url.startswith("http") else 1))

    def _on_socket(self, socket: WebSocket) -> None:
        def count(message: str | bytes) -> None:
            self.socket_messages += 1
            self.spend(Kind.SOCKET_MESSAGES, len(message))

        self.spend(Kind.SOCKETS)
        socket.on("framereceived", count)
        socket.on("framesent", count)
