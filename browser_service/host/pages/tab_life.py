"""How the tab of a page comes, goes, fails and ends."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browse_together.contract.background import Background
from browser_service.host import errors
from browser_service.host.background import bounded
from browser_service.host.elements.filled_fields import FilledFields
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.record.life import CrashLog, Life, LifeEvent
from browser_service.host.record.record import PageRecord, SavedPlace
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.tab import Tab
from browser_service.security.urls import BLANK, ERROR_PAGE

_CLOSES_WITHIN_S: Final = 1.0
"""We kill a tab that takes longer, after the reply."""
_TITLE_AFTER_S: Final = 0.1
_TITLE_LATEST_S: Final = 3.0


class TabLife:
    """The life of a page's tab: how it comes, goes, fails and ends, and what that makes of the page."""

    def __init__(self, record: PageRecord, session: SessionEntry, fields: FilledFields, dialogs: Dialogs) -> None:
        self.record = record
        self._session = session
        self._fields = fields
        self._dialogs = dialogs
        self._crashes = CrashLog()
        self._background = Background()
        self._title_timer: asyncio.TimerHandle | None = None

    # --- how it comes and goes -----------------------------------------------------------------------------------

    def replace(self, tab: Tab) -> None:
        """Make a newly opened tab the page's own."""
        self.record.tab, self.record.browser_id, self.record.stopped = tab, self._session.browser_id, ""
        self.record.move(LifeEvent.OPENED)
        self.record.mark_used()

    async def close(self, *, run_before_unload: bool = False) -> bool:
        """Close the page. Returns False if its document asked whether it may be left, and the answer was to stay."""
        tab = self.record.tab
        if tab is not None and run_before_unload and self.record.live:
            self.record.move(LifeEvent.ASKED_TO_LEAVE)
            if not await tab.try_close(lambda: self.record.dialog is not None):
                if self.record.life is Life.LEAVING:
                    self.record.move(LifeEvent.STAYED)
                return False
        self.record.move(LifeEvent.CLOSED)
        if tab is not None and not tab.page.is_closed():
            try:
                async with asyncio.timeout(_CLOSES_WITHIN_S):
                    await tab.page.close()
            except TimeoutError:
                self._background.spawn(tab.kill())
        return True

    def park(self, place: SavedPlace) -> None:
        """Let go of the tab, which the caller closes, and remember where the page was."""
        self.record.move(LifeEvent.PARKED)
        self.record.tab, self.record.place = None, place

    async def leave(self) -> None:
        """Close the tab, and keep the page for later."""
        if (tab := self._detach()) is not None and not self.record.lent:
            await tab.close()

    def abandon(self) -> None:
        """Let go of the tab, if there is one, and close it in the background."""
        tab, self.record.dialog = self._detach(), None
        if tab is not None:
            self._dialogs.forget_tab(tab)
            if not self.record.lent:
                self._background.spawn(tab.close())

    def drop(self, window: Page) -> None:
        """Close a window that was opened for the page in vain, whether it is its tab by now or not."""
        if self.record.tab is not None and self.record.tab.page is window:
            self.abandon()
        else:
            self._background.spawn(bounded(window.close()))

    def _detach(self) -> Tab | None:
        self.record.move(LifeEvent.LEFT)
        tab, self.record.tab = self.record.tab, None
        self._fields.offer_all()
        return tab

    def stop(self, tab: Tab, why: str) -> None:
        """Kill a tab that harms others; it is the page's tab or about to become it. The page does not reload by
        itself."""
        tab.crashed, self.record.stopped = True, why
        self.record.move(LifeEvent.STOPPED)
        if tab is self.record.tab:
            self.record.dialog = None
            self._detach()
        self._dialogs.forget_tab(tab)
        self._background.spawn(tab.kill())

    # --- how it ends ----------------------------------------------------------------------------------------------

    def note_end(self, end: LifeEvent) -> None:
        """Note that the tab, if there is one, has ended with its browser or with its window."""
        if self.record.tab is not None:
            self.record.move(end)

    def note_closed(self, tab: Tab) -> None:
        """Note that a tab's window has closed, or that it went with its browser: news of that may come later."""
        self._session.look()
        if tab is self.record.tab and tab.owned:
            self.record.move(LifeEvent.TAB_CLOSED)

    def note_found(self) -> None:
        """Note that the tab, if it was lost with its browser, is there again."""
        if self.record.tab is not None and self.record.tab.owned and self.record.life is Life.LOST:
            self.record.move(LifeEvent.TAB_CLOSED if self.record.tab.page.is_closed() else LifeEvent.FOUND)

    # --- its title ------------------------------------------------------------------------------------------------

    async def read_title(self) -> bool:
        """Ask the tab for its title, for 200 ms at most. Returns False if it did not answer."""
        tab = self.record.tab
        if tab is None or self.record.dialog or not self.record.live or tab.page.url.startswith(ERROR_PAGE):
            return True
        if (title := await tab.title()) is not None:
            self.record.note_title(title)
        return title is not None

    def read_title_soon(self, after_s: float = _TITLE_AFTER_S) -> None:
        """Ask for the title after the replies, once for many acts in a row: it costs as much as an act. A tab that does
        not answer is asked again, ever later."""
        if self._title_timer is not None:
            self._title_timer.cancel()
        read = lambda: self._background.spawn(self._read_title_or_later(after_s))  # noqa: E731 - one expression
        self._title_timer = asyncio.get_running_loop().call_later(after_s, read)

    async def _read_title_or_later(self, after_s: float) -> None:
        if not await self.read_title() and after_s < _TITLE_LATEST_S:
            self.read_title_soon(2 * after_s)

    # --- whether it works ----------------------------------------------------------------------------------------

    def note_crash(self, tab: Tab) -> None:
        """Note that the renderer of a tab crashed; the tab is the page's or about to become it."""
        if tab.crashed:
            return
        tab.crashed = True
        url = tab.page.url if tab.page.url not in {"", BLANK} else self.record.url
        repeatedly, is_current, life = self._crashes.note(url), tab is self.record.tab, self.record.life
        if life.over:
            return
        if repeatedly and (is_current or not life.live):
            self.record.move(LifeEvent.CRASHED_REPEATEDLY)
        elif is_current:
            self.record.move(LifeEvent.CRASHED)

    def lift_quarantine(self, *, once: bool) -> None:
        """Allow loading the page again despite its crashes. With `once`, another crash there soon after restores the
        quarantine."""
        if self.record.life is Life.QUARANTINED:
            self.record.move(LifeEvent.FREED)
            if once:
                self._crashes.allow_one()

    def cause(self) -> str:
        """Say in words how the tab ended; "" if we let it go, or if an earlier run of the service had it."""
        life = self.record.life
        if self.record.stopped:
            return self.record.stopped
        if life.crashed:
            return "the page's renderer crashed"
        return self._session.end_reason() if life.live or life is Life.LOST else ""

    async def has_ended(self, error: PlaywrightError) -> bool:
        """Say whether an error comes from a tab that died. Playwright may report that as an aborted navigation."""
        tab = self.record.tab
        if "ERR_ABORTED" in str(error) and tab is not None:
            try:
                error = await tab.probe() or error
            except TimeoutError:
                return False
        life = self.record.life  # knows of a crash before its error comes; a page could fake the error's text
        ended = tab is not None and not (life.live or life.over or life is Life.VANISHED)
        return errors.has_ended(error) or ended

    def doubt(self, *, doubted: bool = True) -> None:
        """Note that a call timed out, so that the page may hang. With `doubted` false, note that the page works after
        all."""
        if self.record.live and (doubted or self.record.life is Life.SUSPECT):
            self.record.move(LifeEvent.DOUBTED if doubted else LifeEvent.ANSWERED)

    async def responds(self) -> bool:
        """Say whether the tab answers a script within a second."""
        return self.record.tab is not None and await self.record.tab.responds()

    async def interrupt(self) -> bool:
        """Stop what loads or runs in the tab. Returns whether the browser did so."""
        return self.record.tab is not None and await self.record.tab.interrupt()
