"""What a page was seen to do while an act ran: navigations, requests that it caused, popups, dialogs."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, Page, Request, Response

from browser_service.browser.events import well_formed
from browser_service.browser.network.rhythm import Rhythm, Window
from browser_service.security.urls import abridged
from shared.calls import Json, Throttled

if TYPE_CHECKING:
    from browser_service.browser.network.downloads import Arriving

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_READS = frozenset({"fetch", "xhr", "document", "script", "stylesheet"})
"""What a page may show by: pictures, streams and fonts are not waited for."""
_TOLD_READS = frozenset({"fetch", "xhr", "document"})
_BEACONS = frozenset({"ping", "cspviolationreport"})
"""Nothing on the page comes of their answers."""
_REQUESTS_END_WITHIN_S = 1.0
_EFFECTS_END_WITHIN_S = 2.0
"""Of requests that follow from the answers to others."""
_BODIES_END_WITHIN_S = 0.1
_DRAWN_WITHIN_S = 0.1
_NAVIGATION_ENDS_WITHIN_S = 5.0
_POPUP_ARRIVES_WITHIN_S = 2.0
_ERROR_PAGE_ARRIVES_WITHIN_S = 1.0
_DIALOG_IS_ANSWERED_WITHIN_S = 1.0
_DOWNLOAD_BEGINS_WITHIN_S = 1.0
_DOWNLOADS_END_WITHIN_S = 1.5
_SHOWN = 6
_ERRORS_SHOWN = 3
_ERROR_CHARACTERS = 300
_TOLD = 50
_URL_CHARACTERS = 200
_FAILURES = 400
_UNDER_WAY = (
    "the navigation to {url} is under way: its server has not answered yet, and until then the page cannot be read. "
    'Wait for it: snapshot {{"timeout": 30000}}. Or go on elsewhere: goto'
)
_NO_CONTENT = {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT}


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
    window: Window | None = None
    """None where requests that only read are not the act's: a navigation has many."""
    others: bool = False
    """There were requests besides: of pictures, or the page's own."""
    failed: list[str] = field(default_factory=list)
    navigated: list[str] = field(default_factory=list)
    popups: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    downloads: "list[Arriving]" = field(default_factory=list)
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
        if request.method not in _SAFE_METHODS:
            self.sent[request] = ""
            if request.resource_type in _BEACONS:
                return
        elif self._causes(request):
            self.reads[request] = ""
        else:
            self.others = True
            return
        self.unanswered.add(request)
        self.caused += 1

    def _causes(self, request: Request) -> bool:
        known = self.window is not None and not self.left and len(self.reads) < _TOLD
        return known and _reads(request) and self.window is not None and self.window.causes(request)

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
        requests = [_line(request, status) for request, status in self._requests()]
        more = [f"and {len(requests) - _SHOWN} more requests"] if len(requests) > _SHOWN else []
        document = f" → {answered(str(self.status))}" if with_status and self.status >= _FAILURES else ""
        return [
            *self.noted,
            *(f"navigated to {url}{document}{self._begun()}" for url in self.navigated[-1:]),
            *([_UNDER_WAY.format(url=self.under_way)] if self.under_way else []),
            *requests[:_SHOWN],
            *more,
            *[*dict.fromkeys(self.unread)][:_ERRORS_SHOWN],
            *[*self.failed, *self.broken_off[len(self.downloads) :]][:_SHOWN],
            *(f"popup {page_id} opened" for page_id in self.popups),
            *self.dialogs,
            *(each.report() for each in self.downloads),
            *(f"a script of the page failed: {said}" for said in [*dict.fromkeys(self.script_errors)][:_ERRORS_SHOWN]),
        ]

    def _begun(self) -> str:
        return " (begun before this act)" if self.earlier else ""

    def _requests(self) -> list[tuple[Request, str]]:
        reads = [(r, status) for r, status in self.reads.items() if r.resource_type in _TOLD_READS or _is_bad(status)]
        return [*self.sent.items(), *reads]

    def requests(self, *, reads: bool = False) -> list[Json]:
        """For programs. Without `reads` those alone that change things."""
        return [
            {"method": r.method, "url": well_formed(r.url), "status": int(s) if s.isdigit() else None}
            for r, s in (self._requests() if reads else [*self.sent.items()])[:_TOLD]
        ]

    def facts(self, *, reads: bool = False) -> Json:
        """The same for programs."""
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
            found["dialogs"] = [*self.dialogs]
        if self.script_errors:
            found["scriptErrors"] = [*self.script_errors[:_TOLD]]
        if self.downloads:
            found["downloads"] = [each.state.shown() for each in self.downloads]
        return found

    def delay(self) -> str:
        """Which answers of the network a navigation lacks."""
        lacks = self.pending()
        if not lacks:
            return ""
        more = f", and {len(lacks) - _SHOWN} more" if len(lacks) > _SHOWN else ""
        return f"no whole answer yet: {', '.join(url[:_URL_CHARACTERS] for url in lacks[:_SHOWN])}{more}"

    def pending(self) -> list[str]:
        """What the document still waits for."""
        return [well_formed(request.url) for request in self.loading]


class Observer:
    """Listens to one Playwright page for as long as it lives, and tells the observation of the running act."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._running: set[Observation] = set()
        self.moves = 0
        """How often the page went anywhere."""
        self.rhythm = Rhythm()
        self._toward: Request | None = None
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_failed)
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_document)
        page.on("requestfinished", self._on_finished)
        page.on("pageerror", self._on_script_error)
        page.on("crash", self._on_end)
        page.on("close", self._on_end)

    def begin(self, *, navigates: bool = False) -> Observation:
        """`navigates`: the act is a navigation itself, and what the new document asks for is not its effect."""
        observation = Observation(window=None if navigates else Window(self.rhythm))
        observation.earlier = bool(self.under_way)
        self._running.add(observation)
        return observation

    def end(self, observation: Observation) -> None:
        self._running.discard(observation)
        for each in observation.downloads:
            if each.ended and not each.told:
                each.tell()

    async def settle(self, observation: Observation) -> None:
        """Wait until the page shows what the act made of it: answers to the requests that it caused, and to those that
        followed from these."""
        loop = asyncio.get_running_loop()
        ends_at, known = loop.time() + _EFFECTS_END_WITHIN_S, 0
        while observation.caused > known and (left := ends_at - loop.time()) > 0:
            known = observation.caused
            await observation.answered(min(left, _REQUESTS_END_WITHIN_S))
            if not observation.navigating:
                await self._drawn()
        await observation.settle()

    @property
    def under_way(self) -> str:
        """The address that the page goes to, while its server has not answered. Until then no script runs in it."""
        return well_formed(self._toward.url) if self._toward else ""

    def led_on(self) -> bool:
        """Note that the time of the running act is over; whether that is because it navigates."""
        under_way = [observation for observation in self._running if observation.under_way]
        for observation in under_way:
            observation.outlasted = True
        return bool(under_way)

    async def _drawn(self) -> None:
        """What a page makes of an answer is there with its next frame."""
        with contextlib.suppress(TimeoutError, Error):
            async with asyncio.timeout(_DRAWN_WITHIN_S):
                await self._page.evaluate("() => new Promise(requestAnimationFrame)")

    def popup_coming(self) -> None:
        for observation in self._running:
            observation.popups_coming += 1

    async def answered(self, seconds: float) -> bool:
        """Wait until the requests that the running act sent are answered; whether there were any."""
        waiting = [observation for observation in self._running if observation.caused]
        for observation in waiting:
            await observation.answered(seconds)
        return bool(waiting)

    def acted(self) -> bool:
        """Whether a running act sent something, went somewhere, or opened a window or a dialog."""
        return any(seen.sent or seen.navigated or seen.popups_coming or seen.dialogs for seen in self._running)

    def popup(self, page_id: str) -> bool:
        """Whether a reply is still to come that tells of it."""
        for observation in self._running:
            observation.popups.append(page_id)
            observation.changed.set()
        return bool(self._running)

    def noted(self, lines: Iterable[str], silence: str) -> None:
        for observation in self._running:
            observation.noted.extend(lines)
            observation.silence = observation.silence or silence

    def dialog_coming(self) -> None:
        """One that is answered at once, which will be told."""
        for observation in self._running:
            observation.dialogs_coming += 1

    def dialog(self, said: str) -> bool:
        """Whether a reply is still to come that tells of it."""
        for observation in self._running:
            observation.dialogs.append(said)
            observation.changed.set()
        return bool(self._running)

    def _on_end(self, _: Page) -> None:
        for observation in self._running:
            observation.over = True
            observation.changed.set()

    def _on_request(self, request: Request) -> None:
        navigation = self._is_document(request)
        if navigation:
            self._toward = request
        elif not self._running and request.method in _SAFE_METHODS and _reads(request):
            self.rhythm.sent(request)
        for observation in self._running:
            observation.loading.add(request)
            if navigation:
                observation.navigating, observation.toward, observation.earlier = True, request, False
            if not navigation or request.method not in _SAFE_METHODS:
                observation.asked(request)
            if observation.reads and self.rhythm.has(request):
                observation.forget([each for each in observation.reads if self.rhythm.has(each)])

    def _on_response(self, response: Response) -> None:
        navigation = bool(self._running) and self._is_document(response.request)
        self._toward = None if response.request is self._toward else self._toward
        for observation in self._running:
            if navigation:
                observation.status = response.status
                observation.documents.add(response.request)
            if response.request in observation.sent or response.request in observation.reads:
                observation.came(response.request, str(response.status))
            elif response.request in observation.loading and _is_refused(response):
                observation.unread.append(_line(response.request, str(response.status)))

    def _on_failed(self, request: Request) -> None:
        self._toward = None if request is self._toward else self._toward
        navigation = bool(self._running) and self._is_document(request)
        for observation in self._running:
            own = request in observation.loading
            observation.loading.discard(request)
            if request in observation.reads and not observation.reads[request] and _given_up(request):
                observation.forget([request])
            # an answer whose body nobody read "fails" afterwards: it was an answer all the same
            observation.came(request, request.failure or "failed")
            reads = navigation and request not in observation.sent and (own or not _given_up(request))
            if reads and observation.status in _NO_CONTENT:
                said = f"{request.url} answered {observation.status}, no content: the page stays where it was"
                observation.failed.append(said)
            elif reads and request not in observation.documents:
                observation.failed.append(f"navigation to {request.url} failed: {request.failure}")
            if request in observation.documents and observation.status not in _NO_CONTENT:
                observation.broken_off.append(f"navigation to {request.url} failed: {request.failure}")
            observation.navigating = observation.navigating and not navigation
            observation.changed.set()

    def _on_navigated(self, frame: Frame) -> None:
        if frame != self._page.main_frame:
            return
        self.moves += 1
        self._toward = None
        for observation in self._running:
            if frame.url.startswith("chrome-error:"):  # no place; why it came is told by _on_failed
                observation.error_pages += 1
            else:
                observation.navigated.append(abridged(frame.url))
                observation.ready = False
                observation.committed()
            observation.changed.set()

    def _on_document(self, _: Page) -> None:
        for observation in self._running:
            observation.navigating = False
            observation.ready = bool(observation.navigated)
            observation.changed.set()

    def download(self, arriving: "Arriving") -> None:
        """What seemed to be a navigation was none."""
        self._toward = None
        for observation in self._running:
            observation.downloads.append(arriving)
            observation.navigating = False
            observation.changed.set()

    def awaits(self, arriving: "Arriving") -> bool:
        """Whether a reply is still to come that tells of it."""
        waiting = [observation for observation in self._running if arriving in observation.downloads]
        for observation in waiting:
            observation.changed.set()
        return bool(waiting)

    def _on_finished(self, request: Request) -> None:
        for observation in self._running:
            observation.loading.discard(request)
            observation.changed.set()

    def _on_script_error(self, error: Error) -> None:
        for observation in self._running:
            observation.script_errors.append(well_formed(error.message.strip().splitlines()[0][:_ERROR_CHARACTERS]))

    def _is_document(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self._page.main_frame


def _reads(request: Request) -> bool:
    return request.resource_type in _READS


def _is_refused(response: Response) -> bool:
    """To a script that wanted to read something."""
    request = response.request
    fetched = request.method in _SAFE_METHODS and request.resource_type in {"fetch", "xhr"}
    return fetched and response.status >= _FAILURES


def _given_up(request: Request) -> bool:
    """By the page itself, which asked for something else or went elsewhere."""
    return "ERR_ABORTED" in (request.failure or "")


def _is_bad(status: str) -> bool:
    return not status.isdigit() or int(status) >= _FAILURES


def _line(request: Request, status: str) -> str:
    waits = "a beacon, not waited for" if request.resource_type in _BEACONS else "no answer yet"
    return f"{request.method} {_short(request.url)} → {answered(status) or waits}"


def answered(status: str) -> str:
    """A status with what it means for what was asked."""
    if not status.isdigit() or int(status) < _FAILURES:
        return status
    return f"{status}: {'the server failed' if int(status) >= HTTPStatus.INTERNAL_SERVER_ERROR else 'refused'}"


def throttled(response: Response, *, fetching: bool) -> Throttled | None:
    """That a site asks for a pause, by its answer to a page's document, or to what is fetched for a caller. What else a
    page loads is its own affair."""
    if response.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return None
    request, retry_after = response.request, response.headers.get("retry-after")
    document = request.is_navigation_request() and request.frame.parent_frame is None
    if not document and not (fetching and request.resource_type == "fetch"):
        return None
    return Throttled(url=response.url, status=response.status, retry_after=retry_after)


def _short(url: str) -> str:
    parts = urlsplit(url)
    return parts.path or "/"
