"""Records the requests of one act: those that change something, those that the act caused, and navigations."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Request, Response

from browse_together.contract.cuts import shown_of
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import address, quoted
from browser_service.host.events import address_of
from browser_service.host.network.answers import BY_WORKER, FAILURES, STREAMS, has_failed, may_refuse, refusal
from browser_service.host.network.polling import ActWindow

ASKS_FOR_PAUSE: Final = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_REFUSALS: Final = {404: "not found", 410: "not found", 429: "too many requests"}
_MOST_DIGITS: Final = 9
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
NO_CONTENT = {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT}
MOST_RECORDED = 1_000
"""The most requests or lines of each kind recorded for one act: a page can send any number."""
MOST_LISTED = 50
_READ_TYPES = frozenset({"fetch", "xhr", "document", "script", "stylesheet"})
"""Types whose answers may change what the page shows. Pictures, streams and fonts are not waited for."""
_REPORTED_READ_TYPES = frozenset({"fetch", "xhr", "document"})
_SCHEMES = frozenset({"http", "https", "about", "blob", "data", "file", "javascript"})
"""Schemes of what a browser shows itself. Links of other kinds (mailto, tel) open apps."""
FOR_AN_APP: Final = "{} is for another app, and none opens here; the page stays"
_BEACON_TYPES = frozenset({"ping", "cspviolationreport"})
"""Types whose answers have no effect on the page."""
LISTED = 6
LISTED_ERRORS = 3


@dataclass(eq=False)
class ActRequests:
    """The requests of one act, and where it leads the page, without the requests that the page repeats by itself."""

    window: ActWindow | None = None
    """None if requests that only read are not recorded, as for a navigation, which has many."""
    writes: dict[Request, str] = field(default_factory=dict)
    """The outcomes of the requests that change things; empty while there is none."""
    reads: dict[Request, str] = field(default_factory=dict)
    """The outcomes of the requests that the act caused and that only read."""
    remarks: dict[Request, str] = field(default_factory=dict)
    """What answers say besides their status."""
    answers: dict[Request, Response] = field(default_factory=dict)
    """The answers that may say no in their bodies."""
    unanswered: set[Request] = field(default_factory=set)
    """The requests of both kinds that the reply waits for."""
    awaited_requests: int = 0
    """The number of all requests that the reply had to wait for."""
    has_other_requests: bool = False
    """True if there were other requests, such as for pictures, or by the page itself."""
    loading: set[Request] = field(default_factory=set)
    refused_reads: list[str] = field(default_factory=list)
    """Descriptions of scripts' refused requests to read something."""
    streams: bool = False
    """True if an event stream was opened."""
    late_at: float = 0.0
    """When a request of the act last ended after the act's own end."""

    status: int = 0
    retry_after: str = ""
    navigating: bool = False
    navigation_request: Request | None = None
    was_navigating: bool = False
    """True if the page was already navigating when the act began."""
    left_document: bool = False
    """True if the page shows another document by now, so that further requests of scripts belong to that document."""
    answered_documents: set[Request] = field(default_factory=set)
    aborted_documents: list[str] = field(default_factory=list)
    """Descriptions of answered navigations that brought no document: a download follows each."""
    failures: list[str] = field(default_factory=list)

    @property
    def pending_url(self) -> str:
        """Return the address that the page navigates to, while it still shows its former document."""
        return address_of(self.navigation_request.url) if self.navigating and self.navigation_request else ""

    def pending_urls(self) -> list[str]:
        """Return the addresses that are still loading."""
        return [address_of(request.url) for request in self.loading]

    def begun(self, request: Request, *, is_document: bool) -> None:
        self.loading.add(request)
        if is_document:
            self.navigating, self.navigation_request, self.was_navigating = True, request, False
        if not is_document or request.method not in SAFE_METHODS:
            self.add_request(request)
        if self.window is not None and self.reads and self.window.polling.includes(request):
            self._forget(self.window)

    def add_request(self, request: Request) -> None:
        """Record a request that reads or changes something."""
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
        if self.window is None or self.left_document or len(self.reads) >= MOST_LISTED:
            return False
        return is_read(request) and self.window.causes(request)

    def _forget(self, window: ActWindow) -> None:
        """Drop the requests that turned out to be polling."""
        for request in [each for each in self.reads if window.polling.includes(each)]:
            self._drop(request)

    def _drop(self, request: Request) -> None:
        del self.reads[request]
        self.has_other_requests = True
        self.unanswered.discard(request)

    def answered(self, response: Response, *, is_document: bool) -> None:
        request = response.request
        if is_document:
            self.status, self.retry_after = response.status, describe_pause(response.status, response.headers)
            self.answered_documents.add(request)
        if request in self.writes or request in self.reads:
            self._add_outcome(request, str(response.status))
            if response.from_service_worker and request in self.writes:
                self.remarks[request] = BY_WORKER
            if may_refuse(response) and request in self.writes:
                self.answers[request] = response
        elif request in self.loading and _is_refused(response):
            add_line(self.refused_reads, describe_request(request, str(response.status)))

    def failed(self, request: Request, *, is_document: bool) -> None:
        was_loading = request in self.loading
        self.loading.discard(request)
        if request in self.reads and not self.reads[request] and _is_aborted(request):
            self._drop(request)
        # a request fails after its answer if nobody read the body: the answer still counts
        if request.resource_type in _BEACON_TYPES and _is_aborted(request):
            return  # the page was left, and the browser sends it all the same
        if self.writes.get(request) or self.reads.get(request):
            self.remarks[request] = has_failed(request)
        self._add_outcome(request, request.failure or "failed")
        if not is_document:
            return
        self.navigating = False
        if urlsplit(request.url).scheme not in _SCHEMES:
            add_line(self.failures, FOR_AN_APP.format(address(request.url)))
            return
        line = f"navigation to {address(request.url)} failed: {request.failure}"
        if request not in self.writes and (was_loading or not _is_aborted(request)):
            if self.status in NO_CONTENT:
                where = f"{address(request.url)} answered {self.status}, no content"
                add_line(self.failures, f"{where}: the page stays where it was")
            elif request not in self.answered_documents:
                add_line(self.failures, line)
        if request in self.answered_documents and self.status not in NO_CONTENT:
            add_line(self.aborted_documents, line)

    def _add_outcome(self, request: Request, outcome: str) -> None:
        """Record the first outcome of a request: a status, or the reason for having none."""
        for requests in (self.writes, self.reads):
            if request in requests:
                requests[request] = requests[request] or outcome
        self.unanswered.discard(request)

    async def read_answers(self) -> None:
        """Read the answers that may say no, if they have come whole."""
        answers = {request: each for request, each in self.answers.items() if request not in self.loading}
        said = await asyncio.gather(*map(refusal, [*answers.values()][:LISTED]))
        self.remarks |= {request: no for request, no in zip(answers, said, strict=False) if no}
        self.answers.clear()

    def ended_late(self, request: Request) -> None:
        """Record the end of a request that was still open when the act ended."""
        if request in self.unanswered:
            self.unanswered.discard(request)
            self.late_at = time.monotonic()

    def committed(self) -> None:
        """Note that the page has navigated. If the awaited document was answered, this is a new document."""
        if self.navigation_request in self.answered_documents:
            self.left_document, self.navigation_request = True, None

    def request_lines(self) -> list[str]:
        """Describe the requests."""
        requests = [
            f"{describe_request(each, status)}{self._remark(each, status)}" for each, status in self._reported()
        ]
        return [*_counted(requests), *[*dict.fromkeys(self.refused_reads)][:LISTED_ERRORS]]

    def _remark(self, request: Request, status: str) -> str:
        is_open = request in self.loading and status.isdigit() and request.resource_type in {"fetch", "xhr"}
        remark = self.remarks.get(request) or (STREAMS if is_open else "")
        return f", {remark}" if remark else ""

    def under_way(self) -> str:
        """Describe a navigation that is not finished; "" if there is none."""
        if not self.pending_url:
            return ""
        return (
            f"the navigation to {address(self.pending_url)} is under way: its server has not answered yet, and "
            f"until then the page cannot be read. Wait for it: {next_call('snapshot', timeout=30_000)}. Or go on "
            "elsewhere: goto"
        )

    def describe_delay(self) -> str:
        """Name the answers that a navigation still waits for."""
        if not (urls := self.pending_urls()):
            return ""
        return f"no whole answer yet: {', '.join(first([address(url) for url in urls], LISTED, 'requests'))}"

    def _reported(self) -> list[tuple[Request, str]]:
        reads = [
            (request, status)
            for request, status in self.reads.items()
            if request.resource_type in _REPORTED_READ_TYPES or not status.isdigit() or int(status) >= FAILURES
        ]
        return [*self.writes.items(), *reads]

    def requests(self, *, reads: bool = False) -> list[Json]:
        """Return the requests as JSON; without `reads`, only those that change things."""
        return [
            {"method": r.method, "url": address_of(r.url), "status": int(s) if s.isdigit() else None}
            for r, s in (self._reported() if reads else [*self.writes.items()])[:MOST_LISTED]
        ]


def add_line(lines: list[str], line: str) -> None:
    if len(lines) < MOST_RECORDED:
        lines.append(line)


def _counted(requests: list[str]) -> list[str]:
    """Return the first requests, alike ones in one line, and a line that counts the rest."""
    counts = Counter(requests)
    shown = shown_of(len(counts), LISTED)
    lines = [each if times == 1 else f"{each} ({times} times)" for each, times in islice(counts.items(), shown)]
    rest = sum(islice(counts.values(), shown, None))
    return [*lines, *([f"and {rest} more requests"] if rest else [])]


def first(lines: list[str], count: int, name: str) -> list[str]:
    """Return the first lines, and a line that counts the rest."""
    shown = shown_of(len(lines), count)
    return [*lines[:shown], *([f"and {len(lines) - shown} more {name}"] if len(lines) > shown else [])]


def is_read(request: Request) -> bool:
    return request.resource_type in _READ_TYPES


def describe_request(request: Request, status: str) -> str:
    pending = "a beacon, not waited for" if request.resource_type in _BEACON_TYPES else "no answer yet"
    return f"{request.method} {address(urlsplit(request.url).path or '/')} → {describe_status(status) or pending}"


def describe_status(status: str) -> str:
    """Return a status, with its meaning if it is a failure."""
    if not status.isdigit() or int(status) < FAILURES:
        return status
    refused = _REFUSALS.get(int(status), "refused")
    return f"{status}: {'the server failed' if int(status) >= HTTPStatus.INTERNAL_SERVER_ERROR else refused}"


def describe_pause(status: int, headers: Mapping[str, str]) -> str:
    """Name the pause that a site asks for with its refusal, after the status; "" if it asks for none."""
    asked = headers.get("retry-after", "") if status in ASKS_FOR_PAUSE else ""
    is_number = asked.isascii() and asked.isdecimal() and len(asked) <= _MOST_DIGITS
    return f", Retry-After: {asked if is_number else quoted(asked)}" if asked else ""


def _is_refused(response: Response) -> bool:
    """Return whether the response refuses a script's request to read something."""
    request = response.request
    fetched = request.method in SAFE_METHODS and request.resource_type in {"fetch", "xhr"}
    return fetched and response.status >= FAILURES


def _is_aborted(request: Request) -> bool:
    """Return whether the page itself aborted the request, to send another one or to navigate."""
    return "ERR_ABORTED" in (request.failure or "")
