"""The last messages and errors of a page's scripts, within bounds."""

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from playwright.async_api import ConsoleMessage, Error, Frame, JSHandle, Page, Request

from browse_together.contract.background import Background
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.timestamps import iso
from browser_service.host.network.tab_events import TabEvents, TabListener
from browser_service.host.record.record import PageRecord
from browser_service.host.world.ties import listen

_MOST_ENTRIES: Final = 200
_MOST_TEXT: Final = 2_000
_MOST_STACK: Final = 4_000
_MOST_LOCATION: Final = 300
_RELEASED_AT_ONCE: Final = 100
T = TypeVar("T")
_KINDS: Final = frozenset({"error", "warning", "info", "log", "debug", "exception"})


@dataclass(frozen=True)
class ConsoleEntry:
    number: int
    at: float
    type: str
    text: str
    location: str
    stack: str
    owner: str
    document: int

    @property
    def kind(self) -> str:
        """Return the kind that readers filter by."""
        return "error" if self.type == "assert" else self.type if self.type in _KINDS else "other"

    def describe(self, document: int) -> Json:
        """Describe the entry for a reader, while the page shows `document`."""
        at = iso(self.at)
        description: Json = {"number": self.number, "time": at, "type": self.type, "text": self.text}
        earlier = "earlier" if self.document != document else ""
        more = (("location", self.location), ("stack", self.stack), ("document", earlier))
        return description | {key: value for key, value in more if value}


class Console(TabListener):
    """The messages of one page, whichever Playwright page is behind it, and the errors apart from them.

    A message of an earlier document is only for the client that held the page then; if nobody held it, for all. While a
    person has the page, none is kept.
    """

    def __init__(self, record: PageRecord) -> None:
        self._record = record
        self._messages: deque[ConsoleEntry] = deque(maxlen=_MOST_ENTRIES)
        self._errors: deque[ConsoleEntry] = deque(maxlen=_MOST_ENTRIES)
        self._numbers = itertools.count(1)
        self._document = 0
        self._requested: Request | None = None
        self._values: _Values | None = None

    async def attach(self, page: Page, events: TabEvents, *, came_by_itself: bool) -> None:
        """Listen to a new Playwright page behind the pageId. With `came_by_itself`, also take the messages that the
        driver has kept. We listen before we ask for these, because what comes between would be lost."""
        early, self._values = _Early(), _Values(page)
        events.listeners.append(early)
        events.hear_console()
        heard, failed = early.heard, early.failed
        if came_by_itself:
            kept, thrown = await page.console_messages(filter="all"), await page.page_errors(filter="all")
            heard[:0] = _not_in(heard, kept, lambda message: (message.timestamp, message.type, message.text))
            failed[:0] = _not_in(failed, thrown, lambda error: (error.message, error.stack))
        for message in heard:
            self.on_message(message)
        for error in failed:
            self.on_error(error)
        events.listeners[events.listeners.index(early)] = self
        listen(page, "framenavigated", self._on_navigated)

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
        """Return the messages that a client may read, the number of the last, and the count of messages left out."""
        readable = [
            entry
            for entry in sorted([*self._messages, *self._errors], key=lambda entry: entry.number)
            if (entry.document == self._document or entry.owner in {client_id, ""})
            and entry.number > since
            and (kinds is None or entry.kind in kinds)
            and (text is None or text.casefold() in entry.text.casefold())
        ]
        selected = [entry for entry in readable if earlier or entry.document == self._document]
        last = readable[-1].number if readable else since
        return [entry.describe(self._document) for entry in selected[-limit:]], last, len(readable) - len(selected)

    def on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            with contextlib.suppress(Error):  # a popup's first has no frame yet
                self._requested = request if request.frame.parent_frame is None else self._requested

    def _on_navigated(self, frame: Frame) -> None:
        """Count a new document, but not a script's change of the address."""
        if frame.parent_frame is None:
            requested, self._requested = self._requested, None
            answered = requested is not None and requested.failure is None
            elsewhere = not frame.url.startswith(("http:", "https:"))
            self._document += answered or elsewhere

    def on_message(self, message: ConsoleMessage) -> None:
        source = message.location
        location = (
            f"{cut(source['url'], _MOST_LOCATION)}:{source['lineNumber'] + 1}:{source['columnNumber'] + 1}"
            if source["url"]
            else ""
        )
        self._add(message.type, message.text, at=message.timestamp / 1000, location=location)
        if message.args and self._values is not None:
            self._values.release(message.args)

    def on_error(self, error: Error) -> None:
        text = f"{error.name}: {error.message}" if error.name else error.message
        self._add("exception", text, stack=cut(error.stack or "", _MOST_STACK))

    def _add(self, kind: str, text: str, *, at: float | None = None, location: str = "", stack: str = "") -> None:
        if self._record.person is not None:
            return
        what = next(self._numbers), at or time.time(), kind, cut(text, _MOST_TEXT), location, stack
        entry = ConsoleEntry(*what, self._record.holder_id, self._document)
        (self._errors if entry.kind in {"exception", "error"} else self._messages).append(entry)


def _not_in(heard: list[T], kept: list[T], key: Callable[[T], object]) -> list[T]:
    """Return those that were kept and not heard, if the last ones kept are the first ones heard."""
    known, told = [key(each) for each in kept], [key(each) for each in heard]
    return kept[: next(n for n in range(len(kept) + 1) if known[n:] == told[: len(kept) - n])]


class _Early(TabListener):
    """What comes from a page while its earlier messages are fetched."""

    def __init__(self) -> None:
        self.heard = list[ConsoleMessage]()
        self.failed = list[Error]()

    def on_message(self, message: ConsoleMessage) -> None:
        self.heard.append(message)

    def on_error(self, error: Error) -> None:
        self.failed.append(error)


class _Values:
    """The values of a page's messages, which are released some at a time: browser, driver and this process would keep
    them as long as the page is open. With the page they are gone."""

    def __init__(self, page: Page) -> None:
        self._left = deque[JSHandle]()
        self._works = False
        self._background = Background()
        for end in ("close", "crash"):
            listen(page, end, lambda _: self._left.clear())

    def release(self, values: list[JSHandle]) -> None:
        """Release values after those that still wait: a page may talk faster than the browser answers."""
        self._left.extend(values)
        if not self._works:
            self._works = True
            self._background.spawn(self._release_all())

    async def _release_all(self) -> None:
        while self._left:
            some = [self._left.popleft() for _ in range(min(_RELEASED_AT_ONCE, len(self._left)))]
            await asyncio.gather(*(each.dispose() for each in some), return_exceptions=True)
        self._works = False
