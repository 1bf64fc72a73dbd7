"""The record of one act: its requests, popups, dialogs and downloads, what may still follow, and the words for them."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.async_api import WebSocket

from browse_together.contract.model import Json
from browse_together.contract.quoting import address, quoted
from browser_service.host.network.act_requests import (
    LISTED,
    LISTED_ERRORS,
    MOST_LISTED,
    ActRequests,
    describe_status,
    first,
)
from browser_service.host.network.answers import FAILURES
from browser_service.host.network.downloads import ActiveDownload
from browser_service.waits import wait_until

_BODIES_S = 0.1
_NAVIGATION_S = 5.0
_POPUP_S = 2.0
_ERROR_PAGE_S = 1.0
_DIALOG_S = 1.0
_DOWNLOAD_BEGIN_S = 1.0
_DOWNLOAD_END_S = 1.5
_NOT_BEGUN = f"its link saves a file, and no download has begun within {_DOWNLOAD_BEGIN_S:.0f} s"
_SOCKET_S = 0.6
_REFUSAL_S = 1.0
_SOCKET_QUIET_S = 0.1
_WINDOW_S = 0.5
_SOON_S = 10.0
"""Replies that say nothing else mention no timer that is due later than this."""
AT_ONCE_S = 2.0
"""Other replies mention none that is due later than this. What takes an effect back mostly comes sooner."""


@dataclass(eq=False)
class Observation(ActRequests):
    """The record of one act. Its bounded waits end with an event, not with a pause."""

    by: str = ""
    client_id: str = ""
    began_at: float = field(default_factory=time.monotonic)
    visited_urls: list[str] = field(default_factory=list)
    ready: bool = False
    """True if the new document can be used, though parts of it may still be loading."""
    error_pages: int = 0
    popups: list[str] = field(default_factory=list)
    expected_popups: int = 0
    asks_window: bool = False
    """True if the act is a click that opens links in new pages, which have no opener."""
    linked_popups: int = 0
    """The number of coming popups that can send this page messages."""
    windows: "dict[str, Observation]" = field(default_factory=dict)
    dialogs: list[str] = field(default_factory=list)
    expected_dialogs: int = 0
    downloads: list[ActiveDownload] = field(default_factory=list)
    expected_downloads: int = 0
    foreign_downloads: int = 0
    """The number of those that a person's own browser keeps."""
    script_errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    copied: str = ""
    """The text that the page wrote to the clipboard."""
    silence: str = ""
    """Why nothing may be observed."""
    outlasted: bool = False
    """True if its navigation goes on after the act's own time, or was waited for in vain."""
    page_ended: bool = False
    """True if the page closed or crashed, so that nothing follows."""
    idle: bool = False
    """True if late effects of the page's scripts need no wait."""
    told_elsewhere: bool = False
    """True if the reply tells no effects, so that nothing waits for them."""
    rewritten: bool = False
    """True if a script wrote the page's own address into its history."""
    waited: bool = False
    """True if effects came after the act's own end."""
    due: tuple[float, ...] = ()
    """When the scripts' timers are due that nobody waited for (monotonic clock)."""
    written: set[WebSocket] = field(default_factory=set)
    """Websockets that were written to, and have not answered yet."""
    heard_at: float = 0.0
    """When the last message came after one on a websocket that was written to; 0 if none is awaited (monotonic
    clock)."""
    waits: str = ""
    """What the page waits for that only a person has, and whom to ask."""
    wait_ends_soon: bool = False
    """True while the browser is asked to end that."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def came_later(self) -> bool:
        """True if the page may have changed since the act's own end."""
        return self.waited or self.awaited_requests > 0

    @property
    def is_in_transit(self) -> bool:
        """True if a navigation has begun, and has not arrived anywhere."""
        return self.navigating and not self.visited_urls

    @property
    def had_effect(self) -> bool:
        """True if the act sent something, went somewhere, or opened a window or a dialog."""
        return bool(self.writes or self.visited_urls or self.expected_popups or self.dialogs)

    @property
    def is_pending(self) -> bool:
        """True if effects of the act may still come."""
        return bool(self.unanswered or self.written or any(at > time.monotonic() for at in self.due))

    def pending(self, soon_s: float = _SOON_S) -> str:
        """Name the effects that may still come; timers only if they are due within `soon_s`."""
        now = time.monotonic()
        timers = [at - now for at in self.due if 0 < at - now < soon_s]
        return "; ".join(
            [
                *(f"a timer of the page is due in {max(0.1, seconds):.1f} s" for seconds in timers[:1]),
                *(["no answer yet on the websocket that it wrote to"] if self.written else []),
                *(["an event stream is open"] if self.streams else []),
                *([self.waits] if self.waits else []),
            ]
        )

    def came_since(self, moment: float) -> bool:
        """Say if a late effect of the act came after `moment`."""
        return self.late_at > moment or any(moment < at <= time.monotonic() for at in self.due)

    def answered_late(self, socket: WebSocket) -> None:
        """Note that a websocket answered after the act's end."""
        if socket in self.written:
            self.written.discard(socket)
            self.late_at = time.monotonic()

    async def settle(self) -> None:
        """Wait until the act's navigation has a document, its popups have pageIds, and its dialogs have answers."""
        if self.navigating and not (self.outlasted and self.pending_url):
            await self._until(lambda: not self.navigating, _NAVIGATION_S)
            self.outlasted = self.navigating
        if self.expected_popups:
            await self._until(lambda: len(self.popups) >= self.expected_popups, _POPUP_S)
        if self.expected_dialogs:
            await self._until(lambda: len(self.dialogs) >= self.expected_dialogs, _DIALOG_S)
        if self.downloads or self.aborted_documents or self.expected_downloads:
            await self.wait_for_downloads(self.expected_downloads)
        await asyncio.gather(*(seen.settle() for seen in self.windows.values()))

    async def wait_for_windows(self) -> bool:
        """Wait a moment for a popup that sends this page a message and then closes itself. Returns whether one
        closed."""
        opened = [seen for page_id, seen in self.windows.items() if page_id in self.popups]
        await asyncio.gather(*(seen.wait_for_end() for seen in opened[: self.linked_popups]))
        return any(seen.page_ended for seen in opened)

    async def wait_for_end(self) -> None:
        await self._until(lambda: False, _WINDOW_S)

    async def wait_for_downloads(self, least: int = 0) -> None:
        """Wait for the expected downloads to begin, and briefly for their ends, because most are small."""
        await self._until(lambda: self._begun_downloads >= max(least, len(self.aborted_documents)), _DOWNLOAD_BEGIN_S)
        await self._until(lambda: all(each.ended for each in self.downloads), _DOWNLOAD_END_S)

    @property
    def _begun_downloads(self) -> int:
        return len(self.downloads) + self.foreign_downloads

    async def wait_for_responses(self, seconds: float) -> None:
        """Wait for the heads of the responses, and briefly for their bodies, because some never end."""
        await self._until(lambda: not self.unanswered, seconds)
        await self._until(lambda: self.loading.isdisjoint([*self.writes, *self.reads]), _BODIES_S)

    async def wait_for_sockets(self) -> None:
        """Wait until each websocket that was written to has answered, and all are quiet."""
        ends_at = time.monotonic() + _SOCKET_S
        await self._until(lambda: not self.written, _SOCKET_S)
        while not self.page_ended and (left := min(self.heard_at + _SOCKET_QUIET_S, ends_at) - time.monotonic()) > 0:
            await self._until(lambda: False, left)
        self.heard_at = 0.0  # what comes from now on is no part of these answers

    async def wait_for_refusal(self) -> None:
        """Wait until the page has heard that what it waits for is refused."""
        if self.wait_ends_soon:
            await self._until(lambda: not self.wait_ends_soon, _REFUSAL_S)
            self.waited, self.idle = True, self.told_elsewhere

    async def wait_until_usable(self) -> None:
        """Wait until the new document can be used. The caller sets the time limit."""
        await wait_until(lambda: self.ready, self.changed)

    async def wait_for_error_page(self) -> None:
        """Wait for the browser's own error page: it comes after the error, and would interrupt the next navigation."""
        await self._until(lambda: self.error_pages > 0, _ERROR_PAGE_S)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        await wait_until(lambda: self.page_ended or condition(), self.changed, seconds)

    def lines(self, *, with_status: bool = True) -> list[str]:
        """Describe what was observed."""
        closed = [f"popup {page_id} closed" for page_id in self.popups]
        moved = {page_id: seen.visited_urls[-1] for page_id, seen in self.windows.items() if seen.visited_urls}
        lines = [
            *(note for note in self.notes if note not in closed),
            *self._arrivals(with_status=with_status),
            self.under_way(),
            *self.request_lines(),
            *[*self.failures, *self.aborted_documents[self._begun_downloads :]][:LISTED],
            *(f"popup {page_id} opened" for page_id in self.popups),
            *(note for note in closed if note in self.notes),
            *(f"popup {each} went to {address(url)}" for each, url in moved.items() if each not in self.popups),
            *first(self.dialogs, MOST_LISTED, "dialogs"),
            *([_NOT_BEGUN] if self._begun_downloads < self.expected_downloads else []),
            *first([download.report() for download in self.downloads], MOST_LISTED, "downloads"),
            *(f"a script of the page failed: {quoted(error)}" for error in self._errors()),
        ]
        return [*filter(None, lines)]

    def _arrivals(self, *, with_status: bool) -> list[str]:
        failed = with_status and self.status >= FAILURES
        status = f" → {describe_status(str(self.status))}{self.retry_after}" if failed else ""
        earlier = " (begun before this act)" if self.was_navigating else ""
        return [f"navigated to {address(url)}{status}{earlier}" for url in self.visited_urls[-1:]]

    def _errors(self) -> list[str]:
        return [*dict.fromkeys(self.script_errors)][:LISTED_ERRORS]

    @property
    def files(self) -> list[str]:
        """Return the names of the files that came, or that are still coming."""
        return [each.state.name for each in self.downloads if each.state.state in {"running", "finished"}]

    def facts(self, *, reads: bool = False) -> Json:
        """Return what was observed as data."""
        facts: Json = {
            "navigatedTo": "".join(self.visited_urls[-1:]),
            "navigatingTo": self.pending_url,
            "requests": [*self.requests(reads=reads)],
            "popups": [*self.popups],
            "dialogs": [*self.dialogs[:MOST_LISTED]],
            "scriptErrors": [*self.script_errors[:MOST_LISTED]],
            "downloads": [each.state.shown() for each in self.downloads[:MOST_LISTED]],
        }
        return {name: fact for name, fact in facts.items() if fact}
