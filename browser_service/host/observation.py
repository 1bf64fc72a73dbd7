"""The record of one act: navigations, requests that it caused, popups, dialogs, downloads; and its words."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from playwright.async_api import Request

from browser_service.host.events import well_formed
from browser_service.host.network.downloads import ActiveDownload
from browser_service.host.network.polling import ActWindow
from shared.model import Json
from shared.next_calls import next_call

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_READS = frozenset({"fetch", "xhr", "document", "script", "stylesheet"})
"""What a page may show by: pictures, streams and fonts are not waited for."""
_TOLD_READS = frozenset({"fetch", "xhr", "document"})
_BEACONS = frozenset({"ping", "cspviolationreport"})
"""Nothing on the page comes of their answers."""
_BODIES_END_WITHIN_S = 0.1
_NAVIGATION_ENDS_WITHIN_S = 5.0
_POPUP_ARRIVES_WITHIN_S = 2.0
_ERROR_PAGE_ARRIVES_WITHIN_S = 1.0
_DIALOG_IS_ANSWERED_WITHIN_S = 1.0
_DOWNLOAD_BEGINS_WITHIN_S = 1.0
_DOWNLOADS_END_WITHIN_S = 1.5
_SHOWN = 6
_ERRORS_SHOWN = 3
_TOLD = 50
_KEPT = 1_000
"""Bounds what is noted of one act, of each kind: a page can make any number."""
_URL_CHARACTERS = 200
FAILURES = 400
_UNDER_WAY = (
    "the navigation to {url} is under way: its server has not answered yet, and until then the page cannot be read. "
    "Wait for it: {wait}. Or go on elsewhere: goto"
)
NO_CONTENT = {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT}


@dataclass(eq=False)
class Observation:
    """The record of one act. Bounded waits end with an event, not with a pause."""

    sent: dict[Request, str] = field(default_factory=dict)
    """Requests that change things, with what came of each."""
    reads: dict[Request, str] = field(default_factory=dict)
    """The same of those that the act caused and that only read."""
    unanswered: set[Request] = field(default_factory=set)
    """Of both, those that are waited for."""
    caused: int = 0
    """How many there were to be waited for."""
    window: ActWindow | None = None
    """None where requests that only read are not the act's: a navigation has many."""
    others: bool = False
    """There were requests besides: of pictures, or the page's own."""
    failed: list[str] = field(default_factory=list)
    navigated: list[str] = field(default_factory=list)
    popups: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    downloads: list[ActiveDownload] = field(default_factory=list)
    documents: set[Request] = field(default_factory=set)
    """Navigations that the server answered."""
    broken_off: list[str] = field(default_factory=list)
    """Those that brought no document all the same: a download follows each."""
    noted: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """What scripts asked for to read, and were refused."""
    silence: str = ""
    """Why nothing may be observed."""
    script_errors: list[str] = field(default_factory=list)
    status: int = 0
    """What the server answered with the page's document."""
    loading: set[Request] = field(default_factory=set)
    ready: bool = False
    """The new document can be used, though parts of it may still be loading."""
    popups_coming: int = 0
    dialogs_coming: int = 0
    error_pages: int = 0
    navigating: bool = False
    toward: Request | None = None
    """For the document that the page goes to."""
    earlier: bool = False
    """It went somewhere when the act began."""
    left: bool = False
    """The page shows another document by now: what is asked for is that one's."""
    outlasted: bool = False
    """The time of the act is over, and only its navigation goes on."""
    over: bool = False
    """The page has ended: nothing follows."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def goes_on(self) -> bool:
        """A navigation has begun, and has not arrived anywhere."""
        return self.navigating and not self.navigated

    @property
    def under_way(self) -> str:
        """The address that the page goes to, while it still shows the document that it was at."""
        return well_formed(self.toward.url) if self.navigating and self.toward else ""

    async def settle(self) -> None:
        """Wait until the act's navigation has a document, its popups have names and its dialogs answers."""
        if not (self.outlasted and self.under_way):
            await self._until(lambda: not self.navigating, _NAVIGATION_ENDS_WITHIN_S)
        await self._until(lambda: len(self.popups) >= self.popups_coming, _POPUP_ARRIVES_WITHIN_S)
        await self._until(lambda: len(self.dialogs) >= self.dialogs_coming, _DIALOG_IS_ANSWERED_WITHIN_S)
        await self.downloaded()

    async def downloaded(self, least: int = 0) -> None:
        """Wait for what is going to come, and a little for its end: mostly it is small."""
        await self._until(lambda: len(self.downloads) >= max(least, len(self.broken_off)), _DOWNLOAD_BEGINS_WITHIN_S)
        await self._until(lambda: all(each.ended for each in self.downloads), _DOWNLOADS_END_WITHIN_S)

    async def answered(self, seconds: float) -> None:
        """The heads of answers, and shortly their bodies: some never end."""
        await self._until(lambda: not self.unanswered, seconds)
        await self._until(lambda: self.loading.isdisjoint([*self.sent, *self.reads]), _BODIES_END_WITHIN_S)

    def asked(self, request: Request) -> None:
        """Note a request that reads or changes something."""
        changes = request.method not in SAFE_METHODS
        if changes and len(self.sent) < _KEPT:
            self.sent[request] = ""
            if request.resource_type in _BEACONS:
                return
        elif not changes and self._causes(request):
            self.reads[request] = ""
        else:
            self.others = True
            return
        self.unanswered.add(request)
        self.caused += 1

    def _causes(self, request: Request) -> bool:
        known = self.window is not None and not self.left and len(self.reads) < _TOLD
        return known and reads(request) and self.window is not None and self.window.causes(request)

    def came(self, request: Request, what: str) -> None:
        """Note what came of a request."""
        for each in (self.sent, self.reads):
            if request in each:
                each[request] = each[request] or what
        self.unanswered.discard(request)
        self.changed.set()

    def committed(self) -> None:
        """Note that the page has moved: to another document, where the one that it waited for was answered."""
        if self.toward in self.documents:
            self.left, self.toward = True, None

    def forget(self, requests: Iterable[Request]) -> None:
        """Requests that turned out to be none of the act's."""
        for request in requests:
            self.others = self.reads.pop(request, None) is not None or self.others
            self.unanswered.discard(request)
        self.changed.set()

    async def usable(self) -> None:
        """Wait, for as long as the caller does, until the new document can be used."""
        while not self.ready:
            self.changed.clear()
            await self.changed.wait()

    async def error_page(self) -> None:
        """Wait for the browser's own error page: it comes after the error, and would interrupt the next navigation."""
        await self._until(lambda: self.error_pages > 0, _ERROR_PAGE_ARRIVES_WITHIN_S)

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        if done():
            return
        try:
            async with asyncio.timeout(seconds):
                while not done() and not self.over:
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            return

    def lines(self, *, with_status: bool = True) -> list[str]:
        requests = [line(request, status) for request, status in self._requests()]
        document = f" → {answered(str(self.status))}" if with_status and self.status >= FAILURES else ""
        return [
            *self.noted,
            *(f"navigated to {url}{document}{self._begun()}" for url in self.navigated[-1:]),
            *(
                [_UNDER_WAY.format(url=self.under_way, wait=next_call("snapshot", timeout=30_000))]
                if self.under_way
                else []
            ),
            *_first(requests, _SHOWN, "requests"),
            *[*dict.fromkeys(self.unread)][:_ERRORS_SHOWN],
            *[*self.failed, *self.broken_off[len(self.downloads) :]][:_SHOWN],
            *(f"popup {page_id} opened" for page_id in self.popups),
            *_first(self.dialogs, _TOLD, "dialogs"),
            *_first([each.report() for each in self.downloads], _TOLD, "downloads"),
            *(f"a script of the page failed: {said}" for said in [*dict.fromkeys(self.script_errors)][:_ERRORS_SHOWN]),
        ]

    def _begun(self) -> str:
        return " (begun before this act)" if self.earlier else ""

    def _requests(self) -> list[tuple[Request, str]]:
        reads = [(r, status) for r, status in self.reads.items() if r.resource_type in _TOLD_READS or _is_bad(status)]
        return [*self.sent.items(), *reads]

    def requests(self, *, reads: bool = False) -> list[Json]:
        """Return the requests as data; without `reads`, only those that change things."""
        return [
            {"method": r.method, "url": well_formed(r.url), "status": int(s) if s.isdigit() else None}
            for r, s in (self._requests() if reads else [*self.sent.items()])[:_TOLD]
        ]

    def facts(self, *, reads: bool = False) -> Json:
        """Return what was observed as data."""
        found: Json = {}
        if self.navigated:
            found["navigatedTo"] = self.navigated[-1]
        if self.under_way:
            found["navigatingTo"] = self.under_way
        if requests := self.requests(reads=reads):
            found["requests"] = [*requests]
        if self.popups:
            found["popups"] = [*self.popups]
        if self.dialogs:
            found["dialogs"] = [*self.dialogs[:_TOLD]]
        if self.script_errors:
            found["scriptErrors"] = [*self.script_errors[:_TOLD]]
        if self.downloads:
            found["downloads"] = [each.state.shown() for each in self.downloads[:_TOLD]]
        return found

    def delay(self) -> str:
        """Name the answers of the network that a navigation lacks."""
        lacks = self.pending()
        if not lacks:
            return ""
        more = f", and {len(lacks) - _SHOWN} more" if len(lacks) > _SHOWN else ""
        return f"no whole answer yet: {', '.join(url[:_URL_CHARACTERS] for url in lacks[:_SHOWN])}{more}"

    def pending(self) -> list[str]:
        """Name what the document still waits for."""
        return [well_formed(request.url) for request in self.loading]


def note(lines: list[str], said: str) -> None:
    """Add a line, if there is room for it."""
    if len(lines) < _KEPT:
        lines.append(said)


def _first(lines: list[str], most: int, what: str) -> list[str]:
    return [*lines[:most], *([f"and {len(lines) - most} more {what}"] if len(lines) > most else [])]


def reads(request: Request) -> bool:
    return request.resource_type in _READS


def _is_bad(status: str) -> bool:
    return not status.isdigit() or int(status) >= FAILURES


def line(request: Request, status: str) -> str:
    waits = "a beacon, not waited for" if request.resource_type in _BEACONS else "no answer yet"
    return f"{request.method} {_short(request.url)} → {answered(status) or waits}"


def answered(status: str) -> str:
    """A status with what it means for what was asked."""
    if not status.isdigit() or int(status) < FAILURES:
        return status
    return f"{status}: {'the server failed' if int(status) >= HTTPStatus.INTERNAL_SERVER_ERROR else 'refused'}"


def _short(url: str) -> str:
    parts = urlsplit(url)
    return parts.path or "/"
