"""Listens to a page, and notes in the record of the running act what it was seen to do."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from playwright.async_api import Error, Frame, Page, Request, Response, WebSocket

from browser_service.host.events import address_of, well_formed
from browser_service.host.network.downloads import ActiveDownload
from browser_service.host.network.polling import ActWindow, Polling
from browser_service.host.observation import (
    FAILURES,
    MOST_RECORDED,
    NO_CONTENT,
    SAFE_METHODS,
    UNFOLLOWED,
    Observation,
    add_line,
    describe_request,
    is_read,
)
from browser_service.host.page.late_effects import LateEffects
from browser_service.host.page.tab_events import TabEvents
from browser_service.host.results import bounded
from browser_service.security.urls import BROWSERS_OWN, abridged
from shared.cuts import cut
from shared.quoting import address

_REQUESTS_END_WITHIN_S = 1.0
_EFFECTS_END_WITHIN_S = 2.0
"""Of requests that follow from the answers to others."""
_DRAWN_WITHIN_S = 0.1
_TIMERS_WITHIN_S = 0.4
_MOST_EARLIER = 5
_EARLIER_S = 60.0
_ERROR_CHARACTERS = 300


_NEXT_FRAME: Final = bounded("async () => { await new Promise(requestAnimationFrame) }")


class Observer:
    """Listens to one Playwright page for as long as it lives, and tells the observation of the running act."""

    def __init__(self, page: Page, events: TabEvents) -> None:
        self._page = page
        self._running: set[Observation] = set()
        self.moves = 0
        """How often the page went anywhere."""
        self.failed_navigation = "", ""
        """The address of the one that failed last, and how it failed."""
        self.polling = Polling()
        self.late: LateEffects | None = None
        self.windows: dict[str, Observer] = {}
        """Maps the page's popups to what listens to them."""
        self._earlier = deque[Observation](maxlen=_MOST_EARLIER)
        """Acts of which something was still to come when they ended."""
        self._one_way = set[WebSocket]()
        """Sockets that brought no answer to what an act wrote."""
        self._navigation_request: Request | None = None
        events.begun.append(self._on_request)
        events.answered.append(self._on_response)
        events.finished.append(self._on_finished)
        events.failed.append(self._on_failed)
        events.missed.append(self._on_missed)
        page.on("websocket", self._on_socket)
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_document)
        events.errors.append(self._on_script_error)
        page.on("crash", self._on_end)
        page.on("close", self._on_end)

    def begin(self, *, navigates: bool = False, idle: bool = False, by: str = "", client_id: str = "") -> Observation:
        """Begin the record of an act, which `by` names. With `navigates` it is a navigation itself, and what the new
        document asks for is not its effect; with `idle` what scripts ask for is not waited for."""
        window = None if navigates else ActWindow(self.polling)
        observation = Observation(window=window, idle=idle, by=by, client_id=client_id)
        observation.was_navigating = bool(self.navigating_to)
        if not navigates:
            self.windows = {page_id: each for page_id, each in self.windows.items() if not each.is_closed}
            for page_id in self.windows:
                self._begin_window(observation, page_id)
        self._running.add(observation)
        return observation

    def _begin_window(self, observation: Observation, page_id: str) -> None:
        """Observe a popup too, unless somebody acts there."""
        if not (window := self.windows[page_id]).acting:
            observation.windows[page_id] = window.begin(navigates=True)

    def end(self, observation: Observation) -> None:
        self._running.discard(observation)
        for page_id, seen in observation.windows.items():
            if page_id in self.windows:
                self.windows[page_id].end(seen)
        if observation.due or observation.is_pending:
            self._earlier.append(observation)
        for each in observation.downloads:
            if each.ended and not each.reported:
                each.notify()

    async def settle(self, observation: Observation) -> None:
        """Wait until the page shows what the act made of it: what its scripts asked to be called for soon, answers to
        the requests that it caused, and what followed from these."""
        loop = asyncio.get_running_loop()
        ends_at, awaited_before = loop.time() + _EFFECTS_END_WITHIN_S, 0
        await self._wait_for_later(observation)
        while observation.awaited_requests > awaited_before and (seconds_left := ends_at - loop.time()) > 0:
            awaited_before = observation.awaited_requests
            await observation.wait_for_responses(min(seconds_left, _REQUESTS_END_WITHIN_S))
            if not observation.navigating:
                await asyncio.gather(self._next_frame(), self._wait_for_later(observation))
        await observation.settle()
        if observation.linked_popups and await observation.wait_for_windows():
            observation.waited = True
            await self._next_frame()

    async def wait_for_later(self) -> bool:
        """Wait until what the running act's scripts asked to be called for soon has come. Returns whether any of
        it came."""
        for observation in self._running:
            await self._wait_for_later(observation)
        return any(observation.waited for observation in self._running)

    async def _wait_for_later(self, observation: Observation) -> None:
        if observation.written:
            observation.waited = True
            await observation.wait_for_sockets()
            self._one_way |= observation.written
        if self.late is None or observation.idle or observation.window is None or observation.left_document:
            return
        later = await self.late.later(time.monotonic() - observation.began_at, _TIMERS_WITHIN_S)
        observation.waited = observation.waited or later.came
        observation.due = tuple(sorted(time.monotonic() + ms / 1000 for ms in later.due if ms > 0))
        if later.refusal:
            self.add_once(later.refusal)

    async def wait_for_earlier(self) -> None:
        """Wait for what earlier acts asked for and is due very soon: or it would come while the next act runs."""
        now = time.monotonic()
        soon = [each for each in self._earlier if any(0 < at - now < _TIMERS_WITHIN_S for at in each.due)]
        if soon and self.late is not None:
            await self.late.later(now - soon[0].began_at, _TIMERS_WITHIN_S)

    @property
    def has_earlier(self) -> bool:
        """True if something of an earlier act may have come since its end."""
        return bool(self._earlier)

    def forget_earlier(self) -> None:
        """Forget the earlier acts of which nothing more is to come, and those of long ago."""
        now = time.monotonic()
        kept = [each for each in self._earlier if each.is_pending and now - each.began_at < _EARLIER_S]
        self._earlier = deque(kept, maxlen=_MOST_EARLIER)

    def cause_since(self, moment: float) -> Observation | None:
        """Return the latest of the earlier acts of which something came since then."""
        now = time.monotonic()
        for each in reversed(self._earlier):
            if each.late_at > moment or any(moment < at <= now for at in each.due):
                return each
        return None

    async def seen_elsewhere(self, observation: Observation) -> list[str]:
        """Describe what came of an act that neither changed the document nor sent anything."""
        if self.late is None or observation.window is None:
            return []
        lines = await self.late.seen(time.monotonic() - observation.began_at)
        await observation.settle()  # what it led another window to has begun by now
        return lines

    def note_idle(self) -> None:
        """Note that scripts asked for nothing that comes later than the running act's end."""
        for observation in self._running:
            observation.idle = True

    @property
    def acting(self) -> bool:
        return bool(self._running)

    @property
    def is_closed(self) -> bool:
        return self._page.is_closed()

    @property
    def navigating_to(self) -> str:
        """Return the address that the page goes to while its server has not answered: until then no script runs."""
        return address_of(self._navigation_request.url) if self._navigation_request else ""

    def outlasted_by_navigation(self) -> bool:
        """Note that the time of the running act is over. Returns whether that is because it navigates."""
        under_way = [observation for observation in self._running if observation.pending_url]
        for observation in under_way:
            observation.timed_out = True
        return bool(under_way)

    async def _next_frame(self) -> None:
        """Wait until the page draws its next frame, which shows what it makes of a response."""
        with contextlib.suppress(TimeoutError, Error):
            async with asyncio.timeout(_DRAWN_WITHIN_S):
                await self._page.evaluate(_NEXT_FRAME)

    def _updated(self) -> Iterator[Observation]:
        """Yield each running observation to be changed, and wake afterwards whoever waits for its change."""
        for observation in self._running:
            yield observation
            observation.changed.set()

    def expect_popup(self, linked: int) -> None:
        """Note a popup that comes; `linked` is 1 if it can tell this page something."""
        for observation in self._running:
            observation.expected_popups += 1
            observation.linked_popups += linked

    async def wait_for_responses(self, seconds: float) -> bool:
        """Wait until the requests that the running act sent are answered. Returns whether there were any."""
        waiting = [observation for observation in self._running if observation.awaited_requests]
        for observation in waiting:
            await observation.wait_for_responses(seconds)
        return bool(waiting)

    def had_effect(self) -> bool:
        """Say whether a running act sent something, went somewhere, or opened a window or a dialog."""
        return any(
            observation.writes or observation.visited_urls or observation.expected_popups or observation.dialogs
            for observation in self._running
        )

    def add_popup(self, page_id: str, window: "Observer | None") -> bool:
        """Note a popup that opened. Returns whether a reply will still tell it."""
        if window is not None:
            self.windows[page_id] = window
        for observation in self._updated():
            observation.popups.append(page_id)
            if window is not None:
                self._begin_window(observation, page_id)
        return bool(self._running)

    def add_lines(self, lines: Iterable[str], silence: str) -> None:
        for observation in self._running:
            observation.notes.extend(lines)
            observation.silence = observation.silence or silence

    def note_refused_popup(self, line: str) -> bool:
        """Note that a popup that was expected is none. Returns whether a reply will tell it."""
        for observation in self._running:
            observation.expected_popups -= 1
        return self.add_once(line)

    def add_once(self, line: str) -> bool:
        """Note something that may happen any number of times. Returns whether a reply will tell it."""
        for observation in self._updated():
            observation.notes += [] if line in observation.notes else [line]
        return bool(self._running)

    def expect_dialog(self) -> None:
        """Note a dialog that is answered at once, and that the reply will tell."""
        for observation in self._running:
            observation.expected_dialogs = min(observation.expected_dialogs + 1, MOST_RECORDED)

    def add_dialog(self, line: str) -> bool:
        """Note how a dialog ended. Returns whether a reply will still tell it."""
        for observation in self._updated():
            add_line(observation.dialogs, line)
        return bool(self._running)

    def _on_end(self, _: Page) -> None:
        for observation in self._updated():
            observation.page_ended = True

    def _on_request(self, request: Request) -> None:
        if request.url.startswith(BROWSERS_OWN):
            return
        navigation = self._is_document(request)
        if navigation:
            self._navigation_request = request
        elif not self._running and request.method in SAFE_METHODS and is_read(request):
            self.polling.count(request)
        for observation in self._running:
            observation.loading.add(request)
            if navigation:
                observation.navigating, observation.navigation_request = True, request
                observation.was_navigating = False
            if not navigation or request.method not in SAFE_METHODS:
                observation.add_request(request)
            if observation.reads and self.polling.includes(request):
                observation.forget([each for each in observation.reads if self.polling.includes(each)])

    def _on_response(self, response: Response) -> None:
        navigation = bool(self._running) and self._is_document(response.request)
        self._note_late(response.request)
        self._navigation_request = None if response.request is self._navigation_request else self._navigation_request
        for observation in self._running:
            if navigation:
                observation.status = response.status
                observation.answered_documents.add(response.request)
            if response.request in observation.writes or response.request in observation.reads:
                observation.add_outcome(response.request, str(response.status))
            elif response.request in observation.loading and _is_refused(response):
                add_line(observation.refused_reads, describe_request(response.request, str(response.status)))

    def _note_late(self, request: Request) -> None:
        for each in self._earlier:
            each.note_late(request)

    def _on_failed(self, request: Request) -> None:
        self._navigation_request = None if request is self._navigation_request else self._navigation_request
        navigation = self._is_document(request)
        if navigation:
            said = f"the navigation to {address(request.url)} failed: {request.failure}"
            self.failed_navigation = request.url, said
        self._note_late(request)
        for observation in self._updated():
            is_loading = request in observation.loading
            observation.loading.discard(request)
            if request in observation.reads and not observation.reads[request] and _is_aborted(request):
                observation.forget([request])
            # an answer whose body nobody read "fails" afterwards: it was an answer all the same
            observation.add_outcome(request, request.failure or "failed")
            is_get_navigation = (
                navigation and request not in observation.writes and (is_loading or not _is_aborted(request))
            )
            if is_get_navigation and observation.status in NO_CONTENT:
                line = f"{address(request.url)} answered {observation.status}, no content: the page stays where it was"
                add_line(observation.failures, line)
            elif is_get_navigation and request not in observation.answered_documents:
                add_line(observation.failures, f"navigation to {address(request.url)} failed: {request.failure}")
            if request in observation.answered_documents and observation.status not in NO_CONTENT:
                add_line(
                    observation.aborted_documents, f"navigation to {address(request.url)} failed: {request.failure}"
                )
            observation.navigating = observation.navigating and not navigation

    def _on_navigated(self, frame: Frame) -> None:
        if frame != self._page.main_frame:
            return
        self.moves += 1
        self._navigation_request = None
        for observation in self._updated():
            if frame.url.startswith("chrome-error:"):  # no place; why it came is told by _on_failed
                observation.error_pages += 1
            else:
                observation.visited_urls = [abridged(frame.url)]  # a page may go on for ever, and the last is told
                observation.ready = False
                observation.note_commit()

    def _on_document(self, _: Page) -> None:
        if self.late is not None:
            self.late.begin()
        for observation in self._updated():
            observation.navigating = False
            observation.ready = bool(observation.visited_urls)

    def add_download(self, active: ActiveDownload) -> None:
        """Note that a download began: what seemed to be a navigation will not arrive."""
        self._navigation_request = None
        for observation in self._updated():
            observation.downloads.append(active)
            observation.navigating = False

    def will_report(self, active: ActiveDownload) -> bool:
        """Say whether a reply will still tell of a download."""
        waiting = [observation for observation in self._running if active in observation.downloads]
        for observation in waiting:
            observation.changed.set()
        return bool(waiting)

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda _: self._on_written(socket))
        socket.on("framereceived", lambda _: self._on_answered(socket))
        socket.on("close", lambda _: self._on_answered(socket))

    def _on_written(self, socket: WebSocket) -> None:
        if socket not in self._one_way:
            for observation in self._running:
                observation.written.add(socket)

    def _on_answered(self, socket: WebSocket) -> None:
        self._one_way.discard(socket)
        for observation in self._updated():
            observation.written.discard(socket)
        for each in self._earlier:
            each.note_late(socket)

    def _on_finished(self, request: Request) -> None:
        for observation in self._updated():
            observation.loading.discard(request)

    def _on_missed(self) -> None:
        """Wait for no request any more: their ends will not be heard."""
        self._navigation_request = None
        for observation in self._updated():
            observation.unanswered.clear()
            observation.loading.clear()
        self.add_once(UNFOLLOWED)

    def _on_script_error(self, error: Error) -> None:
        lines = error.message.strip().splitlines() or ["(no message)"]  # a script can throw any value, '' too
        for observation in self._running:
            add_line(observation.script_errors, well_formed(cut(lines[0], _ERROR_CHARACTERS)))

    def _is_document(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self._page.main_frame


def _is_refused(response: Response) -> bool:
    """Say whether a response refuses a script that wanted to read something."""
    request = response.request
    fetched = request.method in SAFE_METHODS and request.resource_type in {"fetch", "xhr"}
    return fetched and response.status >= FAILURES


def _is_aborted(request: Request) -> bool:
    """Say whether the page itself gave a request up, because it asked for something else or navigated."""
    return "ERR_ABORTED" in (request.failure or "")
