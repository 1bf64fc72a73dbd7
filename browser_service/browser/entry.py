"""The durable entry behind a pageId: the Playwright page in it may be replaced; holder, queue and revision stay."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from playwright.async_api import Dialog, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.browser import snapshot
from browser_service.browser.cancelling import Cancel
from browser_service.browser.events import well_formed
from browser_service.browser.guard import guard
from browser_service.browser.leases import Lease
from browser_service.browser.observing import Observer
from browser_service.browser.queue import PageQueue, Turn
from browser_service.security.urls import UrlPolicy
from shared.calls import (
    CallMoved,
    CallState,
    HostEvent,
    Notice,
    NoticeGiven,
    PageChanged,
    PageState,
)
from shared.errors import BrowserCrashed, Cancelled, PageNotFound, TimedOut

if TYPE_CHECKING:
    from browser_service.browser.session import BrowserSession

BLANK = "about:blank"
_ERROR_PAGE = "chrome-error:"
_LOADING = ("Loading http://", "Loading https://")
"""What Playwright answers for the title of a page that goes somewhere."""
_TITLE_AFTER_S = 0.1
_TITLE_WITHIN_S = 0.2
_PROBE_S = 1.0
_REVIVE_MS = 30_000

Emit = Callable[[HostEvent], None]
OnClose = Callable[["PageEntry", Page], None]


class PageEntry:
    """A page under its pageId. The Playwright page in it may be replaced; holder, queue and revision stay."""

    def __init__(
        self, state: PageState, session: "BrowserSession", policy: UrlPolicy, emit: Emit, on_close: OnClose
    ) -> None:
        self.page_id = state.page_id
        self.session = session
        self.url = state.url
        self.title = state.title
        self.revision = state.revision
        self.opener_id = state.opener_id
        self.lease = Lease(state.holder_id, state.holder_label) if state.holder_id else None
        self.queue = PageQueue(self._moved)
        self.seen: dict[str, snapshot.Seen] = {}
        self.page: Page | None = None
        self.observer: Observer | None = None
        self.target_id = ""
        self.suspect = False
        self.crashed = False
        self.closed = False
        self.shares_window = state.opener_id is not None
        self._policy = policy
        self._emit = emit
        self._on_close = on_close
        self._asking: asyncio.TimerHandle | None = None
        self._background: set[asyncio.Task[object]] = set()

    @property
    def live(self) -> bool:
        return self.page is not None and not self.crashed and not self.page.is_closed() and self.session.live

    def state(self) -> PageState:
        """What is known without asking the page, so that it can never hang."""
        page = self.page
        shows = page is not None and not self.crashed and not page.is_closed()
        if page is not None and shows and not page.url.startswith((_ERROR_PAGE, f"{BLANK}#")):
            self.url = page.url
        return PageState(
            page_id=self.page_id,
            session_id=self.session.session_id,
            url=self.url,
            title=self.title,
            revision=self.revision,
            holder_id=self.lease.client_id if self.lease else None,
            holder_label=self.lease.label if self.lease else "",
            acted_ago_ms=self.lease.idle_ms if self.lease else None,
            opener_id=self.opener_id,
        )

    async def ensure_live(self, client_id: str, cancel: Cancel, *, navigates: bool, replaces: bool) -> None:
        """The one way to a live page: opens, revives or replaces it. Run at the head of the queue.

        `navigates`: the action goes to a URL of its own, so that the old one need not be loaded first.
        `replaces`: the action may be given a new Playwright page where the old one does not respond.
        """
        if self.closed:
            raise PageNotFound(f"Page {self.page_id!r} was closed.", hint="Open a new one: open_page {}.")
        if self.live:
            if not self.suspect or await self._responds() or (replaces and await self._responds_once_stopped()):
                self.suspect = False
                return
            if not replaces:
                raise await self._unresponsive()
            await self._discard()
        was_open = self.page is not None or self.revision > 0
        await self.adopt(await self.session.open_window())
        if was_open:
            self._tell(client_id, f"{self.page_id} was reopened at {self.url}; what was typed and not sent is lost.")
        if self.page is not None and self.url != BLANK and not navigates:
            await self._revisit(self.page, cancel)

    async def adopt(self, page: Page) -> None:
        """Make `page` the one behind this pageId."""
        self.page = page
        self.crashed = self.suspect = False
        self.seen.clear()
        self.observer = Observer(page)
        page.on("crash", self._on_crash)
        page.on("close", lambda closed: self._on_close(self, closed))
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", lambda _: self.refresh_title())
        try:
            self.target_id = await guard(page, self._policy, self._on_refused)
        except PlaywrightError as error:
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.") from error

    def popup(self, page_id: str) -> None:
        """A window that this page opened: from now on the two share one."""
        self.shares_window = True
        if self.observer is not None:
            self.observer.popup(page_id)

    async def answer(self, dialog: Dialog) -> None:
        """The default policy: what only informs is accepted, what asks is declined; either way it is told."""
        accept = dialog.type in {"alert", "beforeunload"}
        if self.observer is not None:
            self.observer.dialog(dialog, "accepted" if accept else "dismissed")
        if self.lease is not None:
            said = "accepted" if accept else "dismissed"
            self._tell(self.lease.client_id, f"{self.page_id}: {dialog.type} {dialog.message[:200]!r} was {said}.")
        try:
            await (dialog.accept() if accept else dialog.dismiss())
        except PlaywrightError:
            return  # a navigation has dismissed it

    async def read_title(self) -> None:
        """Bring the cached title up to date, in 200 ms at most."""
        if self.page is None or not self.live or self.page.url.startswith(_ERROR_PAGE):
            return
        try:
            async with asyncio.timeout(_TITLE_WITHIN_S):
                title = well_formed(await self.page.title())
        except (TimeoutError, PlaywrightError):
            return
        if title != self.title and not title.startswith(_LOADING):
            self.title = title
            self._emit(PageChanged(page=self.state()))

    def refresh_title(self) -> None:
        """Behind the replies, once for many acts in a row: asking costs as much as an act."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.get_running_loop().call_later(_TITLE_AFTER_S, self._spawn, self.read_title)

    async def close(self, *, run_before_unload: bool = False) -> None:
        self.closed = True
        if self.page is not None and not self.page.is_closed():
            await self.page.close(run_before_unload=run_before_unload)

    async def _responds(self) -> bool:
        if self.page is None:
            return False
        try:
            async with asyncio.timeout(_PROBE_S):
                await self.page.evaluate("1")
        except TimeoutError:
            return False
        except PlaywrightError as error:
            return "Execution context was destroyed" in str(error)
        return True

    async def _responds_once_stopped(self) -> bool:
        return await self.stop_loading() and await self._responds()

    async def stop_loading(self) -> bool:
        """As a browser's stop button: while a page waits for a server's answer, all calls on it wait too."""
        if self.page is None:
            return False
        try:
            async with asyncio.timeout(_PROBE_S):
                session = await self.page.context.new_cdp_session(self.page)
                await session.send("Page.stopLoading")
                await session.detach()
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def _unresponsive(self) -> TimedOut:
        """While it loads, Playwright answers for a page's title; it does not while a script runs."""
        reload = f'reload_page {{"pageId": "{self.page_id}"}}.'
        why, hint = "a script keeps it busy", f"Replace it, its login stays: {reload}"
        if self.page is not None:
            with contextlib.suppress(TimeoutError, PlaywrightError):
                async with asyncio.timeout(_TITLE_WITHIN_S):
                    await self.page.title()
                why = "it goes to a URL whose server has not answered yet"
                hint = f"Give it time, or stop that: {reload}"
        return TimedOut(f"Page {self.page_id!r} does not respond: {why}.", hint=hint, details={"url": self.url})

    async def _discard(self) -> None:
        page, self.page = self.page, None
        if page is not None:
            try:
                async with asyncio.timeout(_PROBE_S * 5):
                    await page.close()
            except (TimeoutError, PlaywrightError):
                return

    async def _revisit(self, page: Page, cancel: Cancel) -> None:
        """Go where the page was. Where that fails it is lost again, and never takes a blank for what it was."""
        try:
            async with cancel.within():
                await page.goto(self.url, timeout=_REVIVE_MS, wait_until="domcontentloaded")
        except TimeoutError:
            await self._discard()
            raise Cancelled("The call was cancelled while its page was brought back; it did not happen.") from None
        except PlaywrightError as error:
            await self._discard()
            first = str(error).splitlines()[0]
            raise BrowserCrashed(
                f"Page {self.page_id!r} was lost with its browser, and {self.url} does not open again: {first}",
                hint=f'Go on elsewhere: goto {{"pageId": "{self.page_id}", "url": "..."}}.',
            ) from error

    def _on_crash(self, _: Page) -> None:
        self.crashed = True

    def _on_navigated(self, frame: Frame) -> None:
        if self.page is None or frame != self.page.main_frame:
            return
        self.revision += 1
        if frame.url not in {BLANK, ""} and not frame.url.startswith((f"{BLANK}#", _ERROR_PAGE)):
            if not self._policy.permits(frame.url):
                self._on_refused(frame.url)
                self._leave(self.page)
                return
            self.url = frame.url
        self._emit(PageChanged(page=self.state()))

    def _leave(self, page: Page) -> None:
        """Committed in spite of all: no page stays at an address that it may not show."""
        self._spawn(lambda: page.goto(BLANK))

    def _spawn(self, work: Callable[[], Coroutine[object, object, object]]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _on_refused(self, url: str) -> None:
        if self.lease is not None:
            self._tell(self.lease.client_id, f"{self.page_id}: {url[:200]} may not be opened and was blocked.")

    def _moved(self, turn: Turn, position: int, behind: str) -> None:
        call = turn.call
        self._emit(
            CallMoved(
                call_id=call.call_id,
                client_id=call.client_id,
                state=CallState.QUEUED,
                position=position,
                behind=behind,
            )
        )

    def _tell(self, client_id: str, text: str) -> None:
        self._emit(NoticeGiven(client_id=client_id, notice=Notice(text=well_formed(text), page_id=self.page_id)))
