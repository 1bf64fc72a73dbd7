"""Stores a page's last requests, and decides who may see what of them.

Anyone may read a page, but its traffic contains cookies, tokens, and typed and sent data. So each request belongs to
the client that held the page when it was sent, and to nobody if a person or nobody held it. Only that client sees
headers and bodies; others see method, status and the address without the values of its query. Headers with secrets are
shown to that client only if it asks for secrets. This module is a little longer than 300 lines because who sees what of
a request can be read here in one go.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response

from browse_together.contract.background import AtMost
from browse_together.contract.cuts import BEYOND, cut
from browse_together.contract.errors import PageNotFound, TimedOut
from browse_together.contract.next_calls import next_call
from browser_service.host.events import address_of, well_formed
from browser_service.host.network.tab_events import TabEvents, TabListener
from browser_service.host.world.ties import listen
from browser_service.rules.bounded import Bounded
from browser_service.security.origins import within
from browser_service.security.redaction import safe_url
from browser_service.security.urls import BROWSERS_OWN

MOST_REQUESTS: Final = 500
"""The most requests kept for a page; the oldest are dropped first."""
MOST_BODY: Final = 100_000
"""The most characters of a body in a log or an archive."""
_ANSWERS_WITHIN_S: Final = 2.0
_SECRET: Final = re.compile(
    r"auth(?!ority)|cookie|token|secret|api-?key|password|session|csrf|xsrf|signature", re.IGNORECASE
)
_MOST_NAMED: Final = 5
_SHOWING_TYPES: Final = frozenset({"document", "fetch", "xhr", "script", "stylesheet"})
"""Types whose answers may change what a page shows; pictures and streams do not count."""
_LONG_S: Final = 30
"""An answer that takes longer is an event stream, not something that the page is about to show."""
REDACTED: Final = "(redacted)"

"""Returns the id of a client, or an empty string."""
Headers = list[tuple[str, str]]


@dataclass(eq=False)
class RequestRecord:
    """One request, and its answer or failure."""

    number: int
    request: Request
    owner: str
    is_document: bool = False
    """True if it requested a document of the main frame."""
    private_to: str = ""
    """The client for which the page was private when it was sent: no other client may ever know of it."""
    at: float = field(default_factory=time.time)
    response: Response | None = None
    ended_at: float | None = None
    failure: str = ""
    mock: str = ""
    """The route that answered instead of the server."""

    @property
    def started(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)

    @property
    def ms(self) -> int | None:
        return None if self.ended_at is None else max(0, round((self.ended_at - self.at) * 1000))

    @property
    def is_of_worker(self) -> bool:
        """Return whether it loads a worker's script. Such a request may seem to stay open, because no event reports a
        shared worker's answer. Chromium sets `accept` on script requests only for workers."""
        return self.request.resource_type == "script" and "accept" in self.request.headers

    @property
    def is_open(self) -> bool:
        """Return whether it has neither been answered nor ended."""
        return self.response is None and self.ended_at is None

    @property
    def state(self) -> str:
        """Return its status, or the reason for having none."""
        if self.response is not None:
            return str(self.response.status)
        return self.failure or "pending"

    def has_status(self, expected: str | None) -> bool:
        """Return whether it has this status, such as `404`, `2xx`, `pending` or `failed`; any, if None."""
        if expected is None:
            return True
        if self.response is None:
            return expected == ("failed" if self.failure else "pending")
        status = str(self.response.status)
        return status[0] == expected[0] if expected.endswith("xx") else status == expected

    def known_to(self, client_id: str) -> bool:
        return self.private_to in {"", client_id}

    def url(self, client_id: str) -> str:
        """Return its address as the client may see it."""
        url = address_of(self.request.url)
        return url if self.owner == client_id else safe_url(url)


@dataclass(frozen=True)
class RequestView:
    """A client's view of requests: what it asked for, limited to what it may see."""

    client_id: str
    secrets: bool = False
    origins: tuple[str, ...] = ()
    """The origins that the client's token is limited to. It sees less of requests elsewhere."""

    def knows(self, record: RequestRecord) -> bool:
        """Return whether the client may know of a request. A token limited to origins hides where the page was before,
        and what was requested there."""
        is_own = record.owner == self.client_id and not record.is_document
        return record.known_to(self.client_id) and (
            is_own or not self.origins or within(self.origins, record.request.url)
        )

    def owns(self, record: RequestRecord) -> bool:
        return record.owner == self.client_id and (not self.origins or within(self.origins, record.request.url))

    async def request_headers(self, record: RequestRecord) -> Headers:
        if not self.owns(record):
            return []
        return self._cleaned(await _headers(record.request))

    async def response_headers(self, record: RequestRecord) -> Headers:
        if not self.owns(record) or record.response is None:
            return []
        return self._cleaned(await _headers(record.response))

    async def request_body(self, record: RequestRecord) -> str | None:
        data = record.request.post_data_buffer if self.owns(record) else None
        return None if data is None else cut(data[: MOST_BODY * 4 + BEYOND].decode("utf-8", "replace"), MOST_BODY)

    async def response_body(self, record: RequestRecord) -> bytes | None:
        """Return the body; None if the client may not see it, or the browser dropped it with its document."""
        if not self.owns(record) or record.response is None or record.ended_at is None:
            return None
        async with AtMost(_ANSWERS_WITHIN_S, PlaywrightError):
            body = await record.response.body()
            # a body that a script read as a blob is gone, and comes as empty
            return body if body or not (await record.request.sizes())["responseBodySize"] else None
        return None

    def _cleaned(self, headers: Headers) -> Headers:
        return [
            (well_formed(name), well_formed(value) if self.secrets or not _SECRET.search(name) else REDACTED)
            for name, value in headers
        ]


@dataclass(frozen=True)
class RequestWait:
    """The requests that a call waits for. `matches` is called for each request, and again for its answer."""

    name: str
    within_ms: int
    view: "RequestView"
    """The view for other requests that a timeout error names."""
    matches: Callable[[RequestRecord], bool]
    until_finished: bool = False
    """True to wait for the whole answer."""
    armed_before_act: bool = False


class TrafficOwner(Protocol):
    """Whoever the requests belong to that a page sends now."""

    @property
    def traffic_owner(self) -> str: ...
    @property
    def traffic_private_to(self) -> str:
        """Return the only client that may know of them; empty if all may."""
        ...


class Traffic(TabListener):
    """The last requests of a page, and the calls that wait for the next."""

    def __init__(self, owner: TrafficOwner) -> None:
        self._owner = owner
        self._records = Bounded[Request, RequestRecord](MOST_REQUESTS)
        self._waiting: dict[asyncio.Future[RequestRecord], RequestWait] = {}
        self.count = 0
        """The number of the last request."""

    def attach(self, page: Page, events: TabEvents) -> None:
        events.listeners.append(self)
        listen(page, "close", lambda _: self._end_waits())

    async def backfill(self, page: Page) -> None:
        """Add the requests that a popup sent before it was known here."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                requests = await page.requests()
        except (PlaywrightError, TimeoutError):
            return
        for request in requests:
            if request not in self._records:
                self._add(request).response = request.existing_response

    @property
    def awaited(self) -> bool:
        """Return whether a call waits for a request."""
        return bool(self._waiting)

    @property
    def document_by_get(self) -> bool:
        """Return whether the page's document was requested by GET, so that it can be reloaded."""
        documents = [record for record in self._records.values() if record.is_document and record.response is not None]
        return not documents or documents[-1].request.method == "GET"

    def pending(self, *, whole: bool = False) -> list[RequestRecord]:
        """Return the document's requests whose answers may still change what the page shows; with `whole`, also those
        with an incomplete answer."""
        pending = list[RequestRecord]()
        for record in reversed([*self._records.values()]):
            if time.time() - record.at > _LONG_S or (record.is_document and record.response is not None):
                break
            is_under_way = record.ended_at is None if whole else record.is_open
            if is_under_way and record.request.resource_type in _SHOWING_TYPES and not record.is_of_worker:
                pending.append(record)
        return pending[::-1]

    def since(self, number: int = 0) -> list[RequestRecord]:
        return [record for record in self._records.values() if record.number > number]

    def note_mock(self, request: Request, route_id: str) -> None:
        if record := self._records.get(request):
            record.mock = route_id

    @asynccontextmanager
    async def expect(self, wait: RequestWait) -> AsyncIterator[Callable[[], Awaitable[RequestRecord]]]:
        """Yield a function that waits for the first match since now and raises TimedOut."""
        arrival: asyncio.Future[RequestRecord] = asyncio.get_running_loop().create_future()
        self._waiting[arrival] = wait
        number = self.count

        async def wait_for_arrival() -> RequestRecord:
            try:
                async with asyncio.timeout(wait.within_ms / 1000):
                    record = await arrival
                    if wait.until_finished and record.response is not None:
                        await record.response.finished()
                    return record
            except TimeoutError:
                raise self._timeout_error(wait, number) from None

        try:
            yield wait_for_arrival
        finally:
            self._waiting.pop(arrival, None)
            arrival.cancel()

    def _timeout_error(self, wait: RequestWait, number: int) -> TimedOut:
        known = [each for each in self.since(number) if wait.view.knows(each)]
        requests = [f"{each.request.method} {each.url(wait.view.client_id)}" for each in known[-_MOST_NAMED:]]
        arm = "" if wait.armed_before_act else ' To arm it before an act: "during": {"action": "click", ...}.'
        return TimedOut(
            f"{wait.name} saw nothing that matches within {wait.within_ms} ms.",
            hint=f"Sent meanwhile: {', '.join(requests) or 'nothing'}. What was sent before: "
            f"{next_call('get_network_log')}.{arm}",
            details={"context": {"timeout": wait.within_ms, "seen": [*requests]}},
        )

    def _end_waits(self) -> None:
        for arrival in self._waiting:
            if not arrival.done():
                arrival.set_exception(
                    PageNotFound("The page was closed meanwhile.", hint=f"See yours: {next_call('list_pages')}.")
                )

    def _add(self, request: Request) -> RequestRecord:
        self.count += 1
        is_document, owner = _is_document(request), self._owner
        record = RequestRecord(self.count, request, owner.traffic_owner, is_document, owner.traffic_private_to)
        self._records[request] = record
        return record

    def on_request(self, request: Request) -> None:
        if request not in self._records and not request.url.startswith(BROWSERS_OWN):
            self._wake(self._add(request))

    def on_response(self, response: Response) -> None:
        if record := self._records.get(response.request):
            record.response = response
            self._wake(record)

    def on_finished(self, request: Request) -> None:
        if record := self._records.get(request):
            record.ended_at = time.time()

    def on_failed(self, request: Request) -> None:
        if record := self._records.get(request):
            record.ended_at, record.failure = time.time(), request.failure or "failed"

    def _wake(self, record: RequestRecord) -> None:
        for arrival, wait in self._waiting.items():
            if not arrival.done() and wait.matches(record):
                arrival.set_result(record)


def _is_document(request: Request) -> bool:
    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except PlaywrightError:  # requested before its frame existed
        return False


async def _headers(message: Request | Response) -> Headers:
    """Return all headers; if the page is gone, only those that its document had set."""
    async with AtMost(_ANSWERS_WITHIN_S, PlaywrightError):
        return [(header["name"], header["value"]) for header in await message.headers_array()]
    return [*message.headers.items()]
