"""Records one act: navigations, requests that it caused, popups, dialogs, downloads; and its words."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from playwright.async_api import Request, WebSocket

from browser_service.host.events import address_of
from browser_service.host.network.downloads import ActiveDownload
from browser_service.host.network.polling import ActWindow
from browser_service.waits import wait_until
from shared.model import Json
from shared.next_calls import next_call
from shared.quoting import address, quoted

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_READ_TYPES = frozenset({"fetch", "xhr", "document", "script", "stylesheet"})
"""A page may show something by these; pictures, streams and fonts are not waited for."""
_REPORTED_READ_TYPES = frozenset({"fetch", "xhr", "document"})
_BEACON_TYPES = frozenset({"ping", "cspviolationreport"})
"""Nothing on the page comes of the answers to these."""
_BODIES_S = 0.1
_NAVIGATION_S = 5.0
_POPUP_S = 2.0
_ERROR_PAGE_S = 1.0
_DIALOG_S = 1.0
_DOWNLOAD_BEGIN_S = 1.0
_DOWNLOAD_END_S = 1.5
_SOCKET_S = 0.6
_WINDOW_S = 0.5
_SOON_S = 10.0
"""A timer that is due later is of no act that anybody waits for."""
_LISTED = 6
_LISTED_ERRORS = 3
_MOST_LISTED = 50
MOST_RECORDED = 1_000
"""Bounds what is recorded of one act, of each kind: a page can make any number."""
UNFOLLOWED = "more requests within a second than are followed: what came of them is not known"
FAILURES = 400
NO_CONTENT = {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT}


@dataclass(eq=False)
class Observation:
    """Records what one act does. Its bounded waits end with an event, not with a pause."""

    writes: dict[Request, str] = field(default_factory=dict)
    """Maps requests that change things to their outcomes."""
    reads: dict[Request, str] = field(default_factory=dict)
    """Maps requests that the act caused and that only read to their outcomes."""
    unanswered: set[Request] = field(default_factory=set)
    """Holds those of both that are waited for."""
    awaited_requests: int = 0
    """Counts how many were to be waited for."""
    window: ActWindow | None = None
    """Is None if requests that only read are not the act's: a navigation has many."""
    has_other_requests: bool = False
    """True if there were further requests: of pictures, or the page's own."""
    failures: list[str] = field(default_factory=list)
    visited_urls: list[str] = field(default_factory=list)
    popups: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    downloads: list[ActiveDownload] = field(default_factory=list)
    answered_documents: set[Request] = field(default_factory=set)
    """Holds navigations that the server answered."""
    aborted_documents: list[str] = field(default_factory=list)
    """Describes those that brought no document all the same: a download follows each."""
    notes: list[str] = field(default_factory=list)
    refused_reads: list[str] = field(default_factory=list)
    """Describes what scripts asked for to read, and were refused."""
    silence: str = ""
    """Says why nothing may be observed."""
    script_errors: list[str] = field(default_factory=list)
    status: int = 0
    """Is the status that the server answered with the page's document."""
    loading: set[Request] = field(default_factory=set)
    ready: bool = False
    """True if the new document can be used, though parts of it may still be loading."""
    expected_popups: int = 0
    expected_dialogs: int = 0
    error_pages: int = 0
    navigating: bool = False
    navigation_request: Request | None = None
    """Asks for the document that the page goes to."""
    was_navigating: bool = False
    """True if the page went somewhere when the act began."""
    left_document: bool = False
    """True if the page shows another document by now: what is asked for is that one's."""
    timed_out: bool = False
    """True if the time of the act is over, and only its navigation goes on."""
    page_ended: bool = False
    """True if nothing follows."""
    began_at: float = field(default_factory=time.monotonic)
    idle: bool = False
    """True if the page's scripts were seen to have asked for nothing that comes later."""
    waited: bool = False
    """True if the act's effects came later than its own end."""
    due: tuple[float, ...] = ()
    """When the timers come that scripts asked for and nobody waited for, by the monotonic clock."""
    written: set[WebSocket] = field(default_factory=set)
    """Sockets that were written to, and have brought no answer yet."""
    windows: "dict[str, Observation]" = field(default_factory=dict)
    """Maps the page's popups to what happened in them meanwhile."""
    linked_popups: int = 0
    """Counts those that opened and can tell this page something."""
    by: str = ""
    """Names the act for a later reply."""
    client_id: str = ""
    late_at: float = 0.0
    """When something came of it after its end."""
    streams: bool = False
    """True if an event stream was opened."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def came_later(self) -> bool:
        """True if the page may have changed since the act's own end."""
        return self.waited or self.awaited_requests > 0

    @property
    def is_in_transit(self) -> bool:
        """Say if a navigation has begun, and has not arrived anywhere."""
        return self.navigating and not self.visited_urls

    @property
    def pending_url(self) -> str:
        """Return the address that the page goes to, while it still shows the document that it was at."""
        return address_of(self.navigation_request.url) if self.navigating and self.navigation_request else ""

    @property
    def is_pending(self) -> bool:
        """True if something may still come of it."""
        return bool(self.unanswered or self.written or any(at > time.monotonic() for at in self.due))

    @property
    def pending(self) -> str:
        """Name what may still come of the act, for a reply that can tell of nothing."""
        now = time.monotonic()
        timers = [at - now for at in self.due if 0 < at - now < _SOON_S]
        return "; ".join(
            [
                *(f"a timer of the page is due in {max(0.1, seconds):.1f} s" for seconds in timers[:1]),
                *(["no answer yet on the websocket that it wrote to"] if self.written else []),
                *(["an event stream is open"] if self.streams else []),
            ]
        )

    async def wait_for_sockets(self) -> None:
        """Wait until something came on each socket that was written to."""
        await self._until(lambda: not self.written, _SOCKET_S)

    async def settle(self) -> None:
        """Wait until the act's navigation has a document, its popups have names and its dialogs answers."""
        if not (self.timed_out and self.pending_url):
            await self._until(lambda: not self.navigating, _NAVIGATION_S)
        await self._until(lambda: len(self.popups) >= self.expected_popups, _POPUP_S)
        await self._until(lambda: len(self.dialogs) >= self.expected_dialogs, _DIALOG_S)
        await self.wait_for_downloads()
        for seen in self.windows.values():
            await seen.settle()

    async def wait_for_windows(self) -> bool:
        """Wait a moment for a popup that closes itself once it has told this page something. Returns whether one
        did."""
        opened = [seen for page_id, seen in self.windows.items() if page_id in self.popups]
        for seen in opened[: self.linked_popups]:
            await seen.wait_for_end()
        return any(seen.page_ended for seen in opened)

    async def wait_for_end(self) -> None:
        await self._until(lambda: False, _WINDOW_S)

    async def wait_for_downloads(self, least: int = 0) -> None:
        """Wait for the downloads that are going to come, and a little for their end: mostly they are small."""
        await self._until(lambda: len(self.downloads) >= max(least, len(self.aborted_documents)), _DOWNLOAD_BEGIN_S)
        await self._until(lambda: all(each.ended for each in self.downloads), _DOWNLOAD_END_S)

    async def wait_for_responses(self, seconds: float) -> None:
        """Wait for the heads of the responses, and shortly for their bodies: some never end."""
        await self._until(lambda: not self.unanswered, seconds)
        await self._until(lambda: self.loading.isdisjoint([*self.writes, *self.reads]), _BODIES_S)

    def add_request(self, request: Request) -> None:
        """Note a request that reads or changes something."""
        self.streams = self.streams or request.resource_type == "eventsource"
        changes = request.method not in SAFE_METHODS
        if changes and len(self.writes) < MOST_RECORDED:
            self.writes[request] = ""
            if request.resource_type in _BEACON_TYPES:
                return
        elif not changes and self._is_caused(request):
            self.reads[request] = ""
        else:
            self.has_other_requests = True
            return
        self.unanswered.add(request)
        self.awaited_requests += 1

    def _is_caused(self, request: Request) -> bool:
        if self.window is None or self.left_document or len(self.reads) >= _MOST_LISTED:
            return False
        return is_read(request) and self.window.causes(request)

    def add_outcome(self, request: Request, outcome: str) -> None:
        """Note the first outcome of a request: a status, or why there is none."""
        for requests in (self.writes, self.reads):
            if request in requests:
                requests[request] = requests[request] or outcome
        self.unanswered.discard(request)
        self.changed.set()

    def note_late(self, source: Request | WebSocket) -> None:
        """Note that something came that was still to come when the act had ended."""
        if source in self.unanswered or source in self.written:
            self.late_at = time.monotonic()
            self.unanswered = {each for each in self.unanswered if each is not source}
            self.written = {each for each in self.written if each is not source}

    def note_commit(self) -> None:
        """Note that the page has moved: to another document, if the one that it waited for was answered."""
        if self.navigation_request in self.answered_documents:
            self.left_document, self.navigation_request = True, None

    def forget(self, requests: Iterable[Request]) -> None:
        """Drop requests that turned out to be none of the act's."""
        for request in requests:
            self.has_other_requests = self.reads.pop(request, None) is not None or self.has_other_requests
            self.unanswered.discard(request)
        self.changed.set()

    async def wait_until_usable(self) -> None:
        """Wait, for as long as the caller does, until the new document can be used."""
        await wait_until(lambda: self.ready, self.changed)

    async def wait_for_error_page(self) -> None:
        """Wait for the browser's own error page: it comes after the error, and would interrupt the next navigation."""
        await self._until(lambda: self.error_pages > 0, _ERROR_PAGE_S)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        await wait_until(lambda: self.page_ended or condition(), self.changed, seconds)

    def lines(self, *, with_status: bool = True) -> list[str]:
        """Describe what was observed."""
        requests = [describe_request(request, status) for request, status in self._reported_requests()]
        errors = [*dict.fromkeys(self.script_errors)][:_LISTED_ERRORS]
        closed = [f"popup {page_id} closed" for page_id in self.popups]
        return [
            *(note for note in self.notes if note not in closed),
            *self._navigation_lines(with_status=with_status),
            *_first(requests, _LISTED, "requests"),
            *[*dict.fromkeys(self.refused_reads)][:_LISTED_ERRORS],
            *[*self.failures, *self.aborted_documents[len(self.downloads) :]][:_LISTED],
            *(f"popup {page_id} opened" for page_id in self.popups),
            *(note for note in closed if note in self.notes),
            *self._window_lines(),
            *_first(self.dialogs, _MOST_LISTED, "dialogs"),
            *_first([download.report() for download in self.downloads], _MOST_LISTED, "downloads"),
            *(f"a script of the page failed: {quoted(error)}" for error in errors),
        ]

    def _navigation_lines(self, *, with_status: bool) -> list[str]:
        status = f" → {describe_status(str(self.status))}" if with_status and self.status >= FAILURES else ""
        earlier = " (begun before this act)" if self.was_navigating else ""
        lines = [f"navigated to {address(url)}{status}{earlier}" for url in self.visited_urls[-1:]]
        if self.pending_url:
            lines.append(
                f"the navigation to {address(self.pending_url)} is under way: its server has not answered yet, and "
                f"until then the page cannot be read. Wait for it: {next_call('snapshot', timeout=30_000)}. Or go on "
                "elsewhere: goto"
            )
        return lines

    def _window_lines(self) -> list[str]:
        moved = {page_id: seen.visited_urls[-1] for page_id, seen in self.windows.items() if seen.visited_urls}
        return [f"popup {each} went to {address(url)}" for each, url in moved.items() if each not in self.popups]

    def _reported_requests(self) -> list[tuple[Request, str]]:
        reads = [
            (request, status)
            for request, status in self.reads.items()
            if request.resource_type in _REPORTED_READ_TYPES or not status.isdigit() or int(status) >= FAILURES
        ]
        return [*self.writes.items(), *reads]

    def requests(self, *, reads: bool = False) -> list[Json]:
        """Return the requests as data; without `reads`, only those that change things."""
        return [
            {"method": r.method, "url": address_of(r.url), "status": int(s) if s.isdigit() else None}
            for r, s in (self._reported_requests() if reads else [*self.writes.items()])[:_MOST_LISTED]
        ]

    def facts(self, *, reads: bool = False) -> Json:
        """Return what was observed as data."""
        found: Json = {}
        if self.visited_urls:
            found["navigatedTo"] = self.visited_urls[-1]
        if self.pending_url:
            found["navigatingTo"] = self.pending_url
        if requests := self.requests(reads=reads):
            found["requests"] = [*requests]
        if self.popups:
            found["popups"] = [*self.popups]
        if self.dialogs:
            found["dialogs"] = [*self.dialogs[:_MOST_LISTED]]
        if self.script_errors:
            found["scriptErrors"] = [*self.script_errors[:_MOST_LISTED]]
        if self.downloads:
            found["downloads"] = [each.state.shown() for each in self.downloads[:_MOST_LISTED]]
        return found

    def describe_delay(self) -> str:
        """Name the answers of the network that a navigation lacks."""
        urls = self.pending_urls()
        if not urls:
            return ""
        more = f", and {len(urls) - _LISTED} more" if len(urls) > _LISTED else ""
        return f"no whole answer yet: {', '.join(address(url) for url in urls[:_LISTED])}{more}"

    def pending_urls(self) -> list[str]:
        """Name what the document still waits for."""
        return [address_of(request.url) for request in self.loading]


def add_line(lines: list[str], line: str) -> None:
    """Add a line, if there is room for it."""
    if len(lines) < MOST_RECORDED:
        lines.append(line)


def _first(lines: list[str], count: int, name: str) -> list[str]:
    return [*lines[:count], *([f"and {len(lines) - count} more {name}"] if len(lines) > count else [])]


def is_read(request: Request) -> bool:
    return request.resource_type in _READ_TYPES


def describe_request(request: Request, status: str) -> str:
    pending = "a beacon, not waited for" if request.resource_type in _BEACON_TYPES else "no answer yet"
    return f"{request.method} {address(urlsplit(request.url).path or '/')} → {describe_status(status) or pending}"


def describe_status(status: str) -> str:
    """Return a status with what it means for what was asked."""
    if not status.isdigit() or int(status) < FAILURES:
        return status
    return f"{status}: {'the server failed' if int(status) >= HTTPStatus.INTERNAL_SERVER_ERROR else 'refused'}"
