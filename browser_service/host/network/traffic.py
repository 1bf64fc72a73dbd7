"""Keeps the last requests of a page, from its start, and says who may see what of them.

Reading a page is free, and its traffic has what no reader may have: cookies, tokens, what was typed and sent. So each
request belongs to the client that held the page when it was sent, and to nobody while a person had it or nobody held
it. That client alone sees headers and bodies; others see method, status and the address without the values of its
query. Headers that are keys to something are shown to it only if it asks for secrets.
"""

import asyncio
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response

from browser_service.host.events import well_formed
from browser_service.security.redaction import safe_url
from shared.errors import PageNotFound, TimedOut
from shared.events import Throttled
from shared.next_calls import next_call

MOST_REQUESTS: Final = 500
"""A page keeps this many requests; the oldest go first."""
MOST_BODY: Final = 100_000
"""A log or an archive has this many characters of one body."""
_ASKS_WITHIN_S: Final = 2.0
_SECRET: Final = re.compile(
    r"auth(?!ority)|cookie|token|secret|api-?key|password|session|csrf|xsrf|signature", re.IGNORECASE
)
_NAMED: Final = 5
_SHOWS_BY: Final = frozenset({"document", "fetch", "xhr", "script", "stylesheet"})
"""A page may show more once these are answered; pictures and streams do not count."""
_LONG_S: Final = 30
"""An answer that takes longer is an event stream, and not what the page is about to show."""
REDACTED: Final = "(redacted)"

CurrentOwner = Callable[[], str]
"""Returns the id of the client that a request sent now belongs to; empty for nobody."""
Headers = list[tuple[str, str]]


@dataclass(eq=False)
class RequestRecord:
    """Holds one request, and its result."""

    number: int
    request: Request
    owner: str
    is_document: bool = False
    """True if it asked for a document of the main frame."""
    at: float = field(default_factory=time.time)
    response: Response | None = None
    ended_at: float | None = None
    failure: str = ""
    mock: str = ""
    """Names the route that answered in the server's place."""

    @property
    def started(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)

    @property
    def ms(self) -> int | None:
        return None if self.ended_at is None else max(0, round((self.ended_at - self.at) * 1000))

    @property
    def state(self) -> str:
        """Return its status, or the reason that it has none."""
        if self.response is not None:
            return str(self.response.status)
        return self.failure or "pending"

    def url(self, client_id: str) -> str:
        """Return the address as a client may see it."""
        url = well_formed(self.request.url)
        return url if self.owner == client_id else safe_url(url)


@dataclass(frozen=True)
class RequestView:
    """Shows a client what it wants to see of requests; of those of others it shows less, whatever the client wants."""

    client_id: str
    secrets: bool = False

    def owns(self, sent: RequestRecord) -> bool:
        return sent.owner == self.client_id

    async def request_headers(self, sent: RequestRecord) -> Headers:
        if not self.owns(sent):
            return []
        return self._cleaned(await _headers(sent.request))

    async def response_headers(self, sent: RequestRecord) -> Headers:
        if not self.owns(sent) or sent.response is None:
            return []
        return self._cleaned(await _headers(sent.response))

    async def request_body(self, sent: RequestRecord) -> str | None:
        data = sent.request.post_data_buffer if self.owns(sent) else None
        return None if data is None else data[: MOST_BODY * 4].decode("utf-8", "replace")[:MOST_BODY]

    async def response_body(self, sent: RequestRecord) -> bytes | None:
        """Return the body; None if the client may not see it, or the browser dropped it with its document."""
        if not self.owns(sent) or sent.response is None or sent.ended_at is None:
            return None
        try:
            async with asyncio.timeout(_ASKS_WITHIN_S):
                body = await sent.response.body()
                # what a script has read as a blob is no longer there, and given as nothing
                return body if body or not (await sent.request.sizes())["responseBodySize"] else None
        except (PlaywrightError, TimeoutError):
            return None

    def _cleaned(self, headers: Headers) -> Headers:
        return [
            (well_formed(name), well_formed(value) if self.secrets or not _SECRET.search(name) else REDACTED)
            for name, value in headers
        ]


@dataclass(frozen=True)
class RequestWait:
    """Says what a call waits for; `holds` sees each request, and again its answer."""

    name: str
    within_ms: int
    client_id: str
    holds: Callable[[RequestRecord], bool]
    whole: bool = False
    """Waits until all of the answer is there."""
    armed_before_act: bool = False


class Traffic:
    """Keeps the last requests, and wakes the calls that wait for the next."""

    def __init__(self, whose: CurrentOwner) -> None:
        self._whose = whose
        self._ring: deque[RequestRecord] = deque(maxlen=MOST_REQUESTS)
        self._by_request: dict[Request, RequestRecord] = {}
        self._waiting: dict[asyncio.Future[RequestRecord], Callable[[RequestRecord], bool]] = {}
        self.count = 0

    def attach(self, page: Page) -> None:
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("close", lambda _: self._end_waits())

    async def backfill(self, page: Page) -> None:
        """Add the requests that a popup sent before it was known here."""
        try:
            async with asyncio.timeout(_ASKS_WITHIN_S):
                before = await page.requests()
        except (PlaywrightError, TimeoutError):
            return
        for request in before:
            if request not in self._by_request:
                sent = self._add(request)
                sent.response = request.existing_response

    @property
    def awaited(self) -> bool:
        """Tell whether a call waits for a request."""
        return bool(self._waiting)

    @property
    def document_by_get(self) -> bool:
        """Say if the page's document was asked for by GET, so that it can be loaded again."""
        last = next((sent for sent in reversed(self._ring) if sent.is_document and sent.response is not None), None)
        return last is None or last.request.method == "GET"

    def pending(self) -> list[RequestRecord]:
        """Return the document's requests whose answers may show more on the page."""
        found: list[RequestRecord] = []
        for sent in reversed(self._ring):
            if time.time() - sent.at > _LONG_S or (sent.is_document and sent.response is not None):
                break
            if sent.response is None and sent.ended_at is None and sent.request.resource_type in _SHOWS_BY:
                found.insert(0, sent)
        return found

    def since(self, number: int = 0) -> list[RequestRecord]:
        return [sent for sent in self._ring if sent.number > number]

    def note_mock(self, request: Request, route_id: str) -> None:
        if sent := self._by_request.get(request):
            sent.mock = route_id

    @asynccontextmanager
    async def expect(self, wait: "RequestWait") -> AsyncIterator[Callable[[], Awaitable[RequestRecord]]]:
        """Keep the first match from now on until the caller asks for it. Asking raises TimedOut."""
        found: asyncio.Future[RequestRecord] = asyncio.get_running_loop().create_future()
        self._waiting[found] = wait.holds
        before = self.count

        async def arrival() -> RequestRecord:
            try:
                async with asyncio.timeout(wait.within_ms / 1000):
                    sent = await found
                    if wait.whole and sent.response is not None:
                        await sent.response.finished()
                    return sent
            except TimeoutError:
                raise self._timeout_error(wait, before) from None

        try:
            yield arrival
        finally:
            self._waiting.pop(found, None)
            found.cancel()

    def _timeout_error(self, wait: "RequestWait", before: int) -> TimedOut:
        seen = [f"{each.request.method} {each.url(wait.client_id)}" for each in self.since(before)[-_NAMED:]]
        arm = "" if wait.armed_before_act else ' To arm it before an act: "during": {"action": "click", ...}.'
        return TimedOut(
            f"{wait.name} saw nothing that matches within {wait.within_ms} ms.",
            hint=f"Sent meanwhile: {', '.join(seen) or 'nothing'}. What was sent before: "
            f"{next_call('get_network_log')}.{arm}",
            details={"context": {"timeout": wait.within_ms, "seen": [*seen]}},
        )

    def _end_waits(self) -> None:
        for found in self._waiting:
            if not found.done():
                found.set_exception(
                    PageNotFound("The page was closed meanwhile.", hint=f"See yours: {next_call('list_pages')}.")
                )

    def _add(self, request: Request) -> RequestRecord:
        self.count += 1
        if len(self._ring) == MOST_REQUESTS:
            self._by_request.pop(self._ring[0].request, None)
        sent = RequestRecord(self.count, request, self._whose(), _is_document(request))
        self._ring.append(sent)
        self._by_request[request] = sent
        return sent

    def _on_request(self, request: Request) -> None:
        if request not in self._by_request:
            self._wake(self._add(request))

    def _on_response(self, response: Response) -> None:
        if sent := self._by_request.get(response.request):
            sent.response = response
            self._wake(sent)

    def _on_finished(self, request: Request) -> None:
        if sent := self._by_request.get(request):
            sent.ended_at = time.time()

    def _on_failed(self, request: Request) -> None:
        if sent := self._by_request.get(request):
            sent.ended_at, sent.failure = time.time(), request.failure or "failed"

    def _wake(self, sent: RequestRecord) -> None:
        for found, holds in [*self._waiting.items()]:
            if not found.done() and holds(sent):
                found.set_result(sent)


def _is_document(request: Request) -> bool:
    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except PlaywrightError:  # asked for before its frame was there
        return False


async def _headers(of: Request | Response) -> Headers:
    """Return all headers; of a page that is gone, only those that its document had set."""
    try:
        async with asyncio.timeout(_ASKS_WITHIN_S):
            return [(header["name"], header["value"]) for header in await of.headers_array()]
    except (PlaywrightError, TimeoutError):
        return [*of.headers.items()]


def throttled(response: Response, *, fetching: bool) -> Throttled | None:
    """Report that a site asks for a pause, by its answer to a page's document or to a caller's fetch."""
    if response.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return None
    request, retry_after = response.request, response.headers.get("retry-after")
    if not _is_document(request) and not (fetching and request.resource_type == "fetch"):
        return None
    return Throttled(url=response.url, status=response.status, retry_after=retry_after)
