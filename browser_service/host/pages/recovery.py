"""Brings a page that died, by itself or with its browser, back to life under the same pageId."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browse_together.contract.background import AtMost
from browse_together.contract.errors import BrowserCrashed, Forbidden, TimedOut, ValidationFailed
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import ASK_FOR_TAB
from browser_service.host.elements.filled_fields import FilledFields
from browser_service.host.pages.tab_life import TabLife
from browser_service.host.record.emulation import allow_position
from browser_service.host.record.life import CRASHES, Life
from browser_service.host.record.record import PageRecord, SavedPlace
from browser_service.host.record.saved_place import replay_history, scroll_back
from browser_service.host.record.settings import PageSettings
from browser_service.host.sessions.session import SessionEntry
from browser_service.security.urls import BLANK, origin_of

_HANGS_AFTER_S: Final = 10
"""Ending the browser loses what others typed, so it must hang this long: the machine may only have stalled for a
moment."""
_REVIVE_MS: Final = 30_000
_ATTEMPTS: Final = 3
"""Several, because the new browser or tab may be killed in its turn."""
_KNOWN_WITHIN_S: Final = 1.0
_ASKED_EVERY_S: Final = 0.02
_LOST: Final = "what was typed and not sent is lost, and so are scroll position, history and sessionStorage"
_LOST_BY_HOST: Final = "form contents and scripts' memory are lost"
_LOST_TOO: Final = ", and so are history and sessionStorage"


@dataclass(frozen=True)
class _Reopened:
    """How the tab that was opened for a page differs from the one before."""

    why: str
    """How the tab before ended, in words; "" if we let it go, or if an earlier run of the service had it."""
    revisits: bool
    """The page was loaded again at its last URL."""
    first: bool
    """The tab is the page's first since the service started."""
    was_open: bool
    """The page had a tab before, in this or an earlier run of the service."""


@dataclass(eq=False)
class Recovery:
    """The only way to get a live tab for a page."""

    record: PageRecord
    tab_life: TabLife
    session: SessionEntry
    settings: PageSettings
    fields: FilledFields
    adopt: Callable[[Page], Awaitable[None]]
    """The function that makes a Playwright page the page's tab. Raises BrowserCrashed if the page ends meanwhile."""

    async def bring_up(self, client_id: str, *, navigates: bool, replaces: bool) -> None:
        """Make the page live, for a call at the head of its queue, and tell `client_id` what was lost meanwhile.

        `navigates`: the action goes to a URL of its own, so that the old one need not be loaded first.
        `replaces`: the action may get a new tab if the old one does not respond.
        """
        reopened, record = await self._ensure_live(navigates=navigates, replaces=replaces), self.record
        record.unopened = False
        if reopened is not None and self.record.tab is not None:
            await self._return_to_place(self.record.tab.page, client_id, reopened)
        if self.record.tab is not None and record.lease is not None and self.settings.foreign:
            await self.settings.clear(self.record.tab)
            what = "routes, headers, init scripts and emulation that another client had set are removed"
            record.tell(client_id, f"{record.page_id}: {what}.")

    async def _ensure_live(self, *, navigates: bool, replaces: bool) -> _Reopened | None:
        """Open, revive or replace the tab if it does not work. Returns None if it is the same as before."""
        record, life = self.record, self.record.life
        if life is Life.VANISHED:
            life = await self._known_end()
        if life.over:
            raise record.closed_error()
        if life.live:
            if life is not Life.SUSPECT or await self._works(stops=replaces):
                return None
            if not replaces or record.lent:
                raise await self._unresponsive_error()
        if record.lent:
            await self._find_again()
            return None
        if navigates or replaces:
            self.tab_life.lift_quarantine(once=not navigates)
        was_open = self.record.tab is not None or record.revision > 0
        first, why, revisits = record.life is Life.NEW, self.tab_life.cause(), record.url != BLANK and not navigates
        if not await self._reopen(revisits=revisits):
            return None
        if life is Life.SUSPECT:  # perhaps its whole browser had to be ended
            why = why or self.tab_life.cause()
        return _Reopened(why, revisits=revisits, first=first, was_open=was_open)

    async def _find_again(self) -> None:
        """Find a person's tab again, after the connection to their browser was lost. Only they open one anew."""
        await self.session.context()
        if not self.record.live:
            page_id = self.record.page_id
            raise BrowserCrashed(f"{page_id!r}, a tab of a person's, is not there or has crashed.", hint=ASK_FOR_TAB)

    async def _known_end(self) -> Life:
        """Wait until it is known whether a tab that has just gone was closed, or went with its browser."""
        async with AtMost(_KNOWN_WITHIN_S):
            while self.record.life is Life.VANISHED:  # noqa: ASYNC110 - several events end it
                await asyncio.sleep(_ASKED_EVERY_S)  # between two looks
        return self.record.life

    async def _works(self, *, stops: bool) -> bool:
        """Say whether a tab responds after all that did not. With `stops`, stop whatever keeps it busy."""
        tab_life = self.tab_life
        works = await tab_life.responds() or (stops and await tab_life.interrupt() and await tab_life.responds())
        if works and self.record.live:
            tab_life.doubt(doubted=False)
        return works

    async def _reopen(self, *, revisits: bool) -> bool:
        """Open a tab, and return whether it is a new one. Try a few times, because the browser may be killed
        meanwhile."""
        problem, tab_before = "", self.record.tab
        for attempts_left in reversed(range(_ATTEMPTS)):
            if self.record.life is Life.QUARANTINED:
                raise self._quarantine_error()
            try:
                problem = await self._open(revisits=revisits)
                break
            except BrowserCrashed:
                if not attempts_left:
                    raise
        if problem:
            page_id, url = self.record.page_id, self.record.url
            raise BrowserCrashed(
                f"Page {page_id!r} is not open any more, and {url} does not open again: {problem}",
                hint=f"Go on elsewhere: {next_call('goto', page_id=page_id, url='...')}.",
            )
        return self.record.tab is not None and self.record.tab is not tab_before

    async def _open(self, *, revisits: bool) -> str:
        """Open a tab once. Returns why its URL could not be loaded, or "". Raises BrowserCrashed if the browser or the
        tab died."""
        tab_life, record = self.tab_life, self.record
        if self.record.life is Life.SUSPECT:  # because of its own scripts, or because the whole browser hangs
            await self.session.end_if_hanging(_HANGS_AFTER_S)
        await self.session.context()
        if self.record.live and record.life is not Life.SUSPECT:  # found again: its browser had kept running
            return ""
        tab_life.abandon()
        page = await self.session.open_window()
        try:
            return await self._load(page, revisits=revisits)
        except BaseException:  # a cancel too: nobody else knows of the window
            tab_life.drop(page)
            raise

    async def _load(self, page: Page, *, revisits: bool) -> str:
        """Make a new window the page's tab, and load its URL. Returns why that could not be loaded, or ""."""
        record = self.record
        record.family = record.page_id
        if record.place.history:
            await replay_history(page, record.place.history)
        url = record.url
        await self.adopt(page)
        if not revisits:
            return ""
        record.url = url  # a new window of other engines has one, and it is blank
        with contextlib.suppress(PlaywrightError):  # the page works without it
            await self._allow_position()
        return await self._revisit(page)

    async def _revisit(self, page: Page) -> str:
        """Load the page's last URL, which a host elsewhere may have told. If that fails, abandon the tab, so that a
        blank page never passes for the lost one."""
        try:
            self.session.policy.check_own(self.record.url)
            await page.goto(self.record.url, timeout=_REVIVE_MS, wait_until="domcontentloaded")
        except PlaywrightError as error:
            died = await self.tab_life.has_ended(error)
            self.tab_life.abandon()
            if died:
                raise BrowserCrashed(f"Page {self.record.page_id!r} ended while it was loaded again.") from error
            return str(error).splitlines()[0]
        except (Forbidden, ValidationFailed) as error:
            self.tab_life.abandon()
            return error.message
        return ""

    async def _allow_position(self) -> None:
        """Allow the site again to read the position; the earlier permission went with the browser."""
        origin, tab = origin_of(self.record.url), self.record.tab
        if self.settings.emulation.settings.get("geolocation") and origin and tab is not None and tab.cdp is not None:
            await allow_position(tab.cdp, origin)

    async def _return_to_place(self, page: Page, client_id: str, reopened: _Reopened) -> None:
        """Scroll a page that had been parked to where it was; if it had not been parked, report what is lost."""
        record = self.record
        place, record.place = record.place, SavedPlace()
        parked = place.parked
        if parked is None and reopened.was_open:
            self._tell_losses(reopened, client_id, restored=place.restored)
        if parked is not None and reopened.revisits:
            await scroll_back(page, parked)
        if parked is not None and parked.loses and place.restored and self.session.spec.lost_by:
            self._tell_losses(reopened, client_id, restored=True)
        elif parked is not None and parked.loses and reopened.revisits:
            anew = f"{record.page_id} had no window any more, and was loaded anew at {record.url}"
            record.tell(client_id, f"{anew}; what was typed there and what its scripts had in memory is lost.")

    # --- what is told --------------------------------------------------------------------------------------------

    def _tell_losses(self, reopened: _Reopened, client_id: str, *, restored: bool) -> None:
        """Tell the holder, and the client whose call met it, in one line what was lost."""
        record = self.record
        where = f" at {record.url}" if reopened.revisits else ""
        host_lost = self.session.spec.lost_by if reopened.first or restored else ""
        why = reopened.why or host_lost
        lines = [f"{record.page_id} was reopened{where}{why and f', because {why}'}"]
        lines.append(f"{_LOST_BY_HOST}{'' if restored else _LOST_TOO}" if host_lost else _LOST)
        set_again = self.settings.summaries()
        if set_again:
            lines.append(f"set again: {', '.join(set_again)}")
        elif reopened.first and record.page_id not in self.session.spec.former:
            whole = "it" if host_lost else "the service"
            lines.append(f"routes, headers, init scripts and emulation that were set ended with {whole}")
        for each in {client_id, record.holder_id} - {""}:
            offer = self.fields.offer(each, record.page_id) if reopened.revisits else ""
            record.tell(each, f"{'; '.join(filter(None, [*lines, offer]))}.")

    async def _unresponsive_error(self) -> TimedOut:
        """Make the error for a tab that does not respond. Playwright can read its title while it loads, but not while a
        script runs."""
        record, tab = self.record, self.record.tab
        reload = f"{next_call('reload_page', page_id=record.page_id)}."
        why, hint = "a script keeps it busy, or its browser hangs", f"Replace it, its login stays: {reload}"
        if tab is not None and await tab.title() is not None:
            why = "it goes to a URL whose server has not answered yet"
            if not tab.observer.navigating_to:
                why += ", or a window of the browser's own, such as that for printing, keeps it"
            hint = f"Give it time, or stop that: {reload}"
        return TimedOut(f"Page {record.page_id!r} does not respond: {why}.", hint=hint, details={"url": record.url})

    def _quarantine_error(self) -> BrowserCrashed:
        page_id, url, stopped = self.record.page_id, self.record.url, self.record.stopped
        why = f"crashed {CRASHES} times within a minute at {url}" if not stopped else f"was stopped at {url}: {stopped}"
        return BrowserCrashed(
            f"Page {page_id!r} {why}; it is not loaded again by itself.",
            hint=ways_on(page_id),
            details={"url": url, "context": {"stopped": stopped} if stopped else {"crashes": CRASHES}},
        )


def ways_on(page_id: str) -> str:
    """Say how to go on with a page that does not reload by itself."""
    elsewhere, again = next_call("goto", page_id=page_id, url="..."), next_call("reload_page", page_id=page_id)
    return f"Go elsewhere: {elsewhere}. Try it once more: {again}."
