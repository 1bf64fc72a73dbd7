"""Keeps the last messages and errors of a page's scripts, within bounds."""

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.async_api import ConsoleMessage, Error, Frame, JSHandle, Page, Request

from browser_service.host.background import Background
from shared.model import Json
from shared.timestamps import iso

_KEPT: Final = 200
_TEXT: Final = 2_000
_STACK: Final = 4_000
_PLACE: Final = 300
_PER_SECOND: Final = 200
"""The console of a page that says more is ignored for the rest of the second: each message costs the service time."""
_NAMED: Final = frozenset({"error", "warning", "info", "log", "debug", "exception"})


@dataclass(frozen=True)
class ConsoleEntry:
    number: int
    at: float
    type: str
    text: str
    place: str
    stack: str
    whose: str
    document: int

    @property
    def kind(self) -> str:
        """Return the kind that readers filter by."""
        return "error" if self.type == "assert" else self.type if self.type in _NAMED else "other"

    def describe(self, document: int) -> Json:
        """Describe it for a reader, while the page shows that document."""
        at = iso(self.at)
        told: Json = {"number": self.number, "time": at, "type": self.type, "text": self.text}
        earlier = "earlier" if self.document != document else ""
        more = (("location", self.place), ("stack", self.stack), ("document", earlier))
        return told | {key: value for key, value in more if value}


class Console:
    """Keeps the messages of one page, whichever Playwright page is behind it, and the errors apart from them.

    `whose` returns the client that holds the page, which alone may read what earlier documents said; None forbids
    keeping.
    """

    def __init__(self, whose: Callable[[], str | None]) -> None:
        self._whose = whose
        self._messages: deque[ConsoleEntry] = deque(maxlen=_KEPT)
        self._errors: deque[ConsoleEntry] = deque(maxlen=_KEPT)
        self._numbers = itertools.count(1)
        self._document = 0
        self._coming: Request | None = None
        self._background = Background()
        self._second, self._heard = 0, 0

    async def attach(self, page: Page, *, came_by_itself: bool) -> None:
        """Listen to another Playwright page behind the pageId, whose driver has what a popup said before."""
        if came_by_itself:
            for message in await page.console_messages(filter="all"):
                self._keep_message(message)
            for error in await page.page_errors(filter="all"):
                self._keep_error(error)
        page.on("console", self._on_console)
        page.on("pageerror", self._keep_error)
        page.on("request", self._on_request)
        page.on("framenavigated", self._on_navigated)

    def read(
        self,
        client_id: str,
        *,
        kinds: list[str] | None,
        text: str | None,
        since: int,
        limit: int,
        earlier: bool,
    ) -> tuple[list[Json], int, int]:
        """Return what a client may read, the number of its last message, and the count of messages left out."""
        found = [
            said
            for said in sorted([*self._messages, *self._errors], key=lambda said: said.number)
            if (said.document == self._document or said.whose in {client_id, ""})
            and said.number > since
            and (kinds is None or said.kind in kinds)
            and (text is None or text.casefold() in said.text.casefold())
        ]
        shown = [said for said in found if earlier or said.document == self._document]
        last = found[-1].number if found else since
        return [said.describe(self._document) for said in shown[-limit:]], last, len(found) - len(shown)

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            with contextlib.suppress(Error):  # a popup's first has no frame yet
                self._coming = request if request.frame.parent_frame is None else self._coming

    def _on_navigated(self, frame: Frame) -> None:
        """Count a new document, but not a change of the address by a script."""
        if frame.parent_frame is None:
            coming, self._coming = self._coming, None
            answered = coming is not None and coming.failure is None
            self._document += answered or not frame.url.startswith(("http:", "https:"))

    def _on_console(self, message: ConsoleMessage) -> None:
        now = int(time.monotonic())
        if now != self._second:
            self._second, self._heard = now, 0
        self._heard += 1
        if self._heard <= _PER_SECOND:
            self._keep_message(message)
        elif self._heard == _PER_SECOND + 1 and message.page is not None:
            self._keep("other", f"(more than {_PER_SECOND} messages within a second; the rest of them is not kept)")
            self._pause(message.page)

    def _pause(self, page: Page) -> None:
        page.remove_listener("console", self._on_console)

        def again() -> None:
            if not page.is_closed():
                page.on("console", self._on_console)

        asyncio.get_running_loop().call_later(1, again)

    def _keep_message(self, message: ConsoleMessage) -> None:
        where = message.location
        place = f"{where['url'][:_PLACE]}:{where['lineNumber'] + 1}:{where['columnNumber'] + 1}" if where["url"] else ""
        self._keep(message.type, message.text, at=message.timestamp / 1000, place=place)
        if message.args:
            self._background.spawn(_let_go(message.args))

    def _keep_error(self, error: Error) -> None:
        text = f"{error.name}: {error.message}" if error.name else error.message
        self._keep("exception", text, stack=(error.stack or "")[:_STACK])

    def _keep(self, kind: str, text: str, *, at: float | None = None, place: str = "", stack: str = "") -> None:
        whose = self._whose()
        if whose is None:
            return
        number, at = next(self._numbers), at or time.time()
        said = ConsoleEntry(number, at, kind, text[:_TEXT], place, stack, whose, self._document)
        (self._errors if said.kind in {"exception", "error"} else self._messages).append(said)


async def _let_go(values: list[JSHandle]) -> None:
    """Release a message's values: browser, driver and this process would keep them as long as the page is open."""
    with contextlib.suppress(Error):
        for value in values:
            await value.dispose()
