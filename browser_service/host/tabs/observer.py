"""Listens to a page, and notes in the running act's record what the page does."""

import time
from collections.abc import Iterator
from typing import Final

from playwright.async_api import Error, Frame, Page, Request, Response, WebSocket

from browse_together.contract.cuts import cut
from browse_together.contract.quoting import address
from browser_service.host import errors
from browser_service.host.events import address_of, well_formed
from browser_service.host.network.act_requests import MOST_RECORDED, SAFE_METHODS, add_line, is_read
from browser_service.host.network.downloads import ActiveDownload
from browser_service.host.network.polling import ActWindow, Polling
from browser_service.host.network.tab_events import TabEvents, TabListener
from browser_service.host.tabs.late_effects import LateEffects
from browser_service.host.tabs.observation import Observation
from browser_service.host.world.ties import listen
from browser_service.security.urls import BROWSERS_OWN, abridged

_ERROR_CHARACTERS: Final = 300


class Observer:
    """The record of what a page does while acts run on it. Without a page it sees nothing."""

    def __init__(self, page: Page | None = None) -> None:
        self._page = page
        self._running: set[Observation] = set()
        self.moves = 0
        """How often the tab has navigated."""
        self.failed_navigation = "", ""
        """The address of the last navigation that failed, and how it failed."""
        self.polling = Polling()
        self.late = LateEffects(page)
        self.windows: dict[str, Observer] = {}
        self.waits = ""
        """What the page waits for that only a person has, and whom to ask; "" for nothing."""
        self._navigation_request: Request | None = None

    def begin(self, *, navigates: bool = False, idle: bool = False, by: str = "", client_id: str = "") -> Observation:
        """Begin the record of an act, which `by` names. With `navigates`, the act is itself a navigation, and the new
        document's requests are not its effects. With `idle`, nothing waits for what scripts schedule."""
        window = None if navigates else ActWindow(self.polling)
        observation = Observation(window=window, idle=idle, told_elsewhere=idle, by=by, client_id=client_id)
        observation.was_navigating, observation.waits = bool(self.navigating_to), self.waits
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
        self.late.earlier.add(observation)
        for each in observation.downloads:
            if each.ended and not each.reported:
                each.notify()

    async def settle(self, observation: Observation) -> None:
        """Wait until the page shows the act's effects."""
        await self.late.settle(observation)

    async def wait_for_effects(self, seconds: float) -> bool:
        """Wait for callbacks that the running act's scripts scheduled for soon, and for responses to its requests.
        Returns whether any came."""
        came = False
        for observation in self._running:
            await self.late.wait(observation)
            await observation.wait_for_responses(seconds)
            came = came or observation.came_later
        return came

    async def seen_elsewhere(self, observation: Observation, *, rolls: bool = True) -> list[str]:
        """Describe the effects of an act that neither changed the document nor sent anything. With `rolls`, the page is
        likely to scroll."""
        if observation.window is None:
            return []
        lines = await self.late.seen(observation, rolls=rolls)
        await observation.settle()  # what it led another window to has begun by now
        return lines

    def note_idle(self) -> None:
        """Note that scripts scheduled nothing for after the running act."""
        for observation in self._running:
            observation.idle = not observation.rewritten

    @property
    def acting(self) -> bool:
        return bool(self._running)

    @property
    def is_closed(self) -> bool:
        """True once its page is closed, or if it has none."""
        return self._page is None or self._page.is_closed()

    @property
    def navigating_to(self) -> str:
        """Return the address of a navigation whose server has not answered yet; "" for none. Until the answer no script
        runs."""
        return address_of(self._navigation_request.url) if self._navigation_request else ""

    def outlasted_by_navigation(self, error: Error) -> bool:
        """Say whether a running act that timed out was done, and only the navigation that it began still runs."""
        if not (errors.is_timeout(error) and errors.began(error)):
            return False
        under_way = [observation for observation in self._running if observation.pending_url]
        for observation in under_way:
            observation.outlasted = True
        return bool(under_way)

    def cause_since(self, moment: float, client_id: str) -> str:
        """Name the earlier act that had an effect since `moment` (monotonic clock) for a client; "" for none."""
        cause = self.late.earlier.cause_since(moment)
        return "" if cause is None else f"{'your' if cause.client_id == client_id else 'the'} {cause.by}"

    def _updated(self) -> Iterator[Observation]:
        """Yield each running observation for a change, and then wake whoever waits for it."""
        for observation in self._running:
            yield observation
            observation.changed.set()

    def expect_popup(self, linked: int) -> None:
        """Note that a popup is coming; `linked` is 1 if it can send this page messages, else 0."""
        for observation in self._running:
            observation.expected_popups += 1
            observation.linked_popups += linked

    @property
    def had_effect(self) -> bool:
        """True if a running act sent something, went somewhere, or opened a window or a dialog."""
        return any(observation.had_effect for observation in self._running)

    @property
    def asks_window(self) -> bool:
        """True if a running act asked for a new page, and none has come yet."""
        return any(each.asks_window and not each.popups for each in self._running)

    def add_popup(self, page_id: str, window: "Observer") -> bool:
        """Note a popup that opened. Returns whether a reply will still report it."""
        self.windows[page_id] = window
        for observation in self._updated():
            observation.popups.append(page_id)
            self._begin_window(observation, page_id)
        return bool(self._running)

    def add_lines(self, *lines: str, silence: str = "") -> None:
        """Add lines to what was observed of the running act; `silence` says why no more may be observed."""
        for observation in self._running:
            observation.notes.extend(lines)
            observation.silence = observation.silence or silence

    def note_refused_popup(self, line: str) -> bool:
        """Note that an expected popup does not come. Returns whether a reply will report it."""
        for observation in self._running:
            observation.expected_popups -= 1
        return self.add_once(line)

    def add_once(self, line: str) -> bool:
        """Note something that may happen any number of times. Returns whether a reply will report it."""
        for observation in self._updated():
            observation.notes += [] if line in observation.notes else [line]
        return bool(self._running)

    def note_wait(self, line: str, *, ends_soon: bool = False) -> None:
        """Note what the page waits for that only a person has; with `ends_soon`, replies wait for the end."""
        self.waits = line
        for observation in self._updated():
            observation.waits, observation.wait_ends_soon = line, ends_soon

    def expect_dialog(self) -> None:
        """Note a dialog that we answer at once, so that the reply waits to report it."""
        for observation in self._running:
            observation.expected_dialogs = min(observation.expected_dialogs + 1, MOST_RECORDED)

    def expect_download(self) -> None:
        """Note that a download is coming, though no request of the page shows it."""
        for observation in self._running:
            observation.expected_downloads = 1

    def add_dialog(self, line: str) -> bool:
        """Note how a dialog ended. Returns whether a reply will still report it."""
        for observation in self._updated():
            add_line(observation.dialogs, line)
        return bool(self._running)

    def add_download(self, active: ActiveDownload) -> None:
        """Note that a download began: what seemed to be a navigation will not arrive."""
        self._navigation_request = None
        for observation in self._updated():
            observation.downloads.append(active)
            observation.navigating = False

    def add_foreign_download(self, line: str) -> bool:
        """Note a download that the person's own browser keeps. Returns whether a reply will report it."""
        for observation in self._updated():
            observation.foreign_downloads += 1
        return self.add_once(line)

    def will_report(self, active: ActiveDownload) -> bool:
        """Say whether a reply will still report a download."""
        waiting = [observation for observation in self._running if active in observation.downloads]
        for observation in waiting:
            observation.changed.set()
        return bool(waiting)


class TabObserver(Observer, TabListener):
    """The observer of one Playwright page, for as long as the page lives."""

    def __init__(self, page: Page, events: TabEvents) -> None:
        super().__init__(page)
        self._main_frame = page.main_frame
        self._leaves = False
        """True from the request for a document until the page shows another."""
        self._url = page.url
        events.listeners.append(self)
        listen(page, "websocket", self._on_socket)
        listen(page, "framenavigated", self._on_navigated)
        listen(page, "domcontentloaded", self._on_document)
        listen(page, "crash", self._on_end)
        listen(page, "close", self._on_end)

    def _on_end(self, _: Page) -> None:
        for observation in self._updated():
            observation.page_ended = True

    def on_request(self, request: Request) -> None:
        if request.url.startswith(BROWSERS_OWN):
            return
        is_document = self._is_document(request)
        if is_document:
            self._navigation_request, self._leaves = request, True
        elif not self._running and request.method in SAFE_METHODS and is_read(request):
            self.polling.count(request)
        for observation in self._updated():
            observation.begun(request, is_document=is_document)

    def on_response(self, response: Response) -> None:
        self._note_end(response.request)
        for observation in self._updated():
            observation.answered(response, is_document=self._is_document(response.request))

    def on_failed(self, request: Request) -> None:
        self._note_end(request)
        is_document = self._is_document(request)
        if is_document:
            said = f"the navigation to {address(request.url)} failed: {request.failure}"
            self.failed_navigation = request.url, said
        for observation in self._updated():
            observation.failed(request, is_document=is_document)

    def _note_end(self, request: Request) -> None:
        self.late.earlier.request_ended(request)
        if request is self._navigation_request:
            self._navigation_request = None

    def _on_navigated(self, frame: Frame) -> None:
        if frame != self._main_frame:
            return
        self.moves += 1
        stays = not self._leaves and frame.url == self._url and frame.url.startswith("http")
        self._navigation_request, self._leaves, self._url = None, False, frame.url
        for observation in self._updated():
            if stays:  # a script wrote the same address into the history, maybe ours after a refusal
                observation.idle, observation.rewritten = False, True
                continue
            if frame.url.startswith("chrome-error:"):  # no place; on_failed notes why it came
                observation.error_pages += 1
            else:
                observation.visited_urls = [abridged(frame.url)]  # a page may go on for ever; replies name the last
                observation.ready = False
                observation.committed()

    def _on_document(self, _: Page) -> None:
        self.late.ask()
        for observation in self._updated():
            observation.navigating = False
            observation.ready = bool(observation.visited_urls)

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda _: self._on_written(socket))
        socket.on("framereceived", lambda _: self._on_answered(socket))
        socket.on("close", lambda _: self._on_answered(socket))

    def _on_written(self, socket: WebSocket) -> None:
        if socket not in self.late.one_way:
            for observation in self._running:
                observation.written.add(socket)

    def _on_answered(self, socket: WebSocket) -> None:
        self.late.one_way.discard(socket)
        for observation in self._updated():
            if socket in observation.written or observation.heard_at:
                observation.heard_at = time.monotonic()
            observation.written.discard(socket)
        self.late.earlier.socket_answered(socket)

    def on_finished(self, request: Request) -> None:
        for observation in self._updated():
            observation.loading.discard(request)

    def on_error(self, error: Error) -> None:
        lines = error.message.strip().splitlines() or ["(no message)"]  # a script can throw any value, '' too
        for observation in self._running:
            add_line(observation.script_errors, well_formed(cut(lines[0], _ERROR_CHARACTERS)))

    def _is_document(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame == self._main_frame
