"""Holds the tab that is behind a pageId now. It may crash, vanish, be parked or be replaced."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.background import Background
from browser_service.host.elements.filled_fields import FilledFields
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.crash_log import CrashLog
from browser_service.host.tabs.life import Life, LifeEvent
from browser_service.host.tabs.observer import Observer
from browser_service.host.tabs.record import BLANK, PageRecord, Place
from browser_service.host.tabs.tab import Tab
from shared.errors import BrowserCrashed

_CLOSES_WITHIN_S: Final = 1.0
"""A tab that takes longer is killed, behind the reply."""


class CurrentTab:
    """The tab of one page while there is one. The page's life moves with it."""

    def __init__(self, record: PageRecord, session: SessionEntry, fields: FilledFields, dialogs: Dialogs) -> None:
        self.tab: Tab | None = None
        self.record = record
        self._session = session
        self._fields = fields
        self._dialogs = dialogs
        self._crashes = CrashLog()
        self._background = Background()

    @property
    def open_tab(self) -> Tab:
        """Return the tab. Raises BrowserCrashed where there is none."""
        if self.tab is None:
            raise BrowserCrashed(f"Page {self.record.page_id!r} is not open.")
        return self.tab

    @property
    def observer(self) -> Observer | None:
        return self.tab.observer if self.tab is not None else None

    @property
    def life(self) -> Life:
        """Return the state of the page, after noting what has become of the tab in the browser."""
        if self.tab is not None:
            self.record.note_end(self.tab.end())
        return self.record.life

    @property
    def live(self) -> bool:
        """True while the page has a tab that can be used."""
        return self.life.live

    @property
    def gone(self) -> bool:
        """True where the page was closed, by a call or in the browser: it was not lost with the browser."""
        return (life := self.life).over or life is Life.VANISHED

    # --- how it comes and goes -----------------------------------------------------------------------------------

    def replace(self, tab: Tab) -> None:
        """Put a tab that has just been opened behind the pageId."""
        self.tab, self.record.browser_id, self.record.stopped = tab, self._session.browser_id, ""
        self.record.move(LifeEvent.OPENED)
        self.record.mark_used()

    async def close(self, *, run_before_unload: bool = False) -> bool:
        """Close the page. Returns False where its document was asked whether it may be left, and refused."""
        tab = self.tab
        if tab is not None and run_before_unload and self.live:
            self.record.move(LifeEvent.ASKED_TO_LEAVE)
            if not await tab.try_close(asks=lambda: self.record.dialog is not None):
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

    def park(self, place: Place) -> None:
        """Let go of the tab, which the caller closes, and remember where the page was."""
        self.record.move(LifeEvent.PARKED)
        self.tab, self.record.place = None, place

    async def leave(self) -> None:
        """Close the tab, and keep the page for later."""
        if (tab := self._detach()) is not None:
            await tab.close()

    def abandon(self) -> None:
        """Leave the tab, where there is one, without waiting for its end."""
        tab, self.record.dialog = self._detach(), None
        if tab is not None:
            self._dialogs.forget_tab(tab)
            self._background.spawn(tab.close())

    def _detach(self) -> Tab | None:
        self.record.move(LifeEvent.LEFT)
        tab, self.tab = self.tab, None
        self._fields.offer_all()
        return tab

    def stop(self, tab: Tab, why: str) -> None:
        """Give up a tab that does harm to others, which is the page's or is about to be. The page is not loaded again
        by itself."""
        tab.dead, self.record.stopped = True, why
        self.record.move(LifeEvent.STOPPED)
        if tab is self.tab:
            self.record.dialog = None
            self._detach()
        self._dialogs.forget_tab(tab)
        self._background.spawn(tab.kill())

    # --- whether it works ----------------------------------------------------------------------------------------

    def note_crash(self, tab: Tab) -> None:
        """Note that the renderer is gone of a tab that is, or is about to be, the page's."""
        if tab.dead:
            return
        tab.dead = True
        url = tab.page.url if tab.page.url not in {"", BLANK} else self.record.url
        repeatedly, is_current, life = self._crashes.note(url), tab is self.tab, self.record.life
        if life.over:
            return
        if repeatedly and (is_current or not life.live):
            self.record.move(LifeEvent.CRASHED_REPEATEDLY)
        elif is_current:
            self.record.move(LifeEvent.CRASHED)

    def lift_quarantine(self, *, once: bool) -> None:
        """Let the page be loaded again in spite of its crashes. With `once`, one more where it crashed before restores
        the quarantine."""
        if self.record.life is Life.QUARANTINED:
            self.record.move(LifeEvent.FREED)
            if once:
                self._crashes.allow_one()

    def cause(self) -> str:
        """Say in words how the tab ended; nothing where it was left, or is of an earlier service."""
        life = self.life
        if self.record.stopped:
            return self.record.stopped
        if life.died:
            return "the page's renderer crashed"
        return self._session.launcher.end_reason() if life.live or life is Life.LOST else ""

    async def died(self, error: PlaywrightError) -> bool:
        """Say whether an error is of a tab that died, which Playwright may report as a navigation that was aborted."""
        tab = self.tab
        if "ERR_ABORTED" in str(error) and tab is not None:
            try:
                error = await tab.probe() or error
            except TimeoutError:
                return False
        life = self.life  # of a crash it is told before the error, which a page could word as well
        ended = tab is not None and not (life.live or life.over or life is Life.VANISHED)
        return errors.has_ended(error) or ended

    def doubt(self, *, doubted: bool = True) -> None:
        """Note that a call on the page ran out of time; not `doubted`: only because the page navigates."""
        if self.live and (doubted or self.record.life is Life.SUSPECT):
            self.record.move(LifeEvent.DOUBTED if doubted else LifeEvent.ANSWERED)

    async def responds(self) -> bool:
        """Say whether the tab answers a script within a second."""
        return self.tab is not None and await self.tab.responds()

    async def interrupt(self) -> bool:
        """Stop what loads or runs in the tab. Returns whether the browser did."""
        return self.tab is not None and await self.tab.interrupt()
