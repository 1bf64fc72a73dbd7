"""Recovery of a page: from one that died, by itself or with its browser, to one that works under the same pageId."""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host import errors
from browser_service.host.network.emulation import allow_position
from browser_service.host.page.crash_log import CRASHES, CrashLog
from browser_service.host.page.life import Life, LifeEvent
from browser_service.host.page.place import walk
from browser_service.host.page.record import BLANK, PageRecord
from browser_service.host.page.settings import PageSettings
from browser_service.host.page.tab import Tab
from browser_service.security.urls import origin_of
from shared.errors import BrowserCrashed, TimedOut
from shared.next_calls import next_call

_HANGS_AFTER_S: Final = 10
"""Others lose what they typed with the browser: a machine that only stood still for a moment must not cost that."""
_REVIVE_MS: Final = 30_000
_PROBE_S: Final = 1.0
_ATTEMPTS: Final = 3
"""What brings a page back may be killed in its turn."""
_KNOWN_WITHIN_S: Final = 1.0
_ASKED_EVERY_S: Final = 0.02


class Browser(Protocol):
    """Opens windows, in a browser that it starts where none runs."""

    async def context(self) -> object: ...

    async def open_window(self) -> Page: ...

    async def end_if_hanging(self, after_s: float) -> None: ...

    def ended(self) -> str:
        """Say in words how an earlier browser ended."""


class Tabs(Protocol):
    """The tab behind a pageId, which can be replaced."""

    @property
    def tab(self) -> Tab | None: ...

    @property
    def life(self) -> Life:
        """The state of the page, with what has become of its tab by now."""

    def abandon(self) -> None:
        """Leave the tab, where there is one, without waiting for its end."""

    async def adopt(self, page: Page) -> None:
        """Make a tab of a Playwright page. Raises BrowserCrashed where that ends meanwhile."""


@dataclass(frozen=True)
class Reopened:
    """The news that there is another tab than before."""

    why: str
    """How the last one ended, in words; empty where it was left, or is of another time."""
    revisits: bool
    """The page was loaded where it had been."""
    first: bool
    """It is the first tab since the service started."""
    was_open: bool
    """The page had a tab before, of this service or of an earlier one."""


class Recovery:
    """The one way to a live tab of one page."""

    def __init__(self, record: PageRecord, tabs: Tabs, browser: Browser, settings: PageSettings) -> None:
        self._record = record
        self._tabs = tabs
        self._browser = browser
        self._settings = settings
        self._crashes = CrashLog()

    def crashed(self, tab: Tab) -> None:
        """Note that the renderer is gone of a tab that is, or is about to be, the page's."""
        if tab.dead:
            return
        tab.dead = True
        where = tab.page.url if tab.page.url not in {"", BLANK} else self._record.url
        repeatedly, own, life = self._crashes.note(where), tab is self._tabs.tab, self._record.life
        if life.over:
            return
        if repeatedly and (own or not life.live):
            self._record.move(LifeEvent.CRASHED_REPEATEDLY)
        elif own:
            self._record.move(LifeEvent.CRASHED)

    async def ensure_live(self, *, navigates: bool, replaces: bool) -> Reopened | None:
        """Open, revive or replace the tab where it does not work. Runs at the head of the page's queue.

        `navigates`: the action goes to a URL of its own, so that the old one need not be loaded first.
        `replaces`: the action may be given a new tab where the old one does not respond.
        Returns None where the tab is the same as before.
        """
        record = self._record
        await self._closed_or_lost()
        if record.life.over:
            raise record.closed_error()
        if self._tabs.life.live:
            if await self._works(stops=replaces):
                return None
            if not replaces:
                raise await self._unresponsive()
        if navigates or replaces:
            self._free(once=not navigates)
        was_open = self._tabs.tab is not None or record.revision > 0
        first, why, revisits = record.life is Life.NEW, self.cause(), record.url != BLANK and not navigates
        if not await self._reopen(revisits=revisits):
            return None
        return Reopened(why, revisits=revisits, first=first, was_open=was_open)

    async def _closed_or_lost(self) -> None:
        """Wait, for a tab that has just gone, until it is known whether it closed, or went with its browser."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_KNOWN_WITHIN_S):
                while self._tabs.life is Life.VANISHED:  # noqa: ASYNC110 - several events end it
                    await asyncio.sleep(_ASKED_EVERY_S)

    async def _works(self, *, stops: bool) -> bool:
        """Say whether the tab responds, if that was in doubt; `stops`: whatever keeps it busy may be stopped."""
        tab = self._tabs.tab
        if self._record.life is not Life.SUSPECT:
            return True
        works = tab is not None and (await tab.responds() or (stops and await tab.interrupt() and await tab.responds()))
        if works and self._tabs.life.live:
            self._record.move(LifeEvent.ANSWERED)
        return works

    def _free(self, *, once: bool) -> None:
        """Lift the quarantine. With `once`, one more crash where it crashed before restores it."""
        if self._record.life is Life.QUARANTINED:
            self._record.move(LifeEvent.FREED)
            if once:
                self._crashes.allow_one()

    async def _reopen(self, *, revisits: bool) -> bool:
        """Say whether there is another tab than before. What it stands on may be killed meanwhile: bounded."""
        problem, known = "", self._tabs.tab
        for left in reversed(range(_ATTEMPTS)):
            if self._record.life is Life.QUARANTINED:
                raise self._refused()
            try:
                problem = await self._open(revisits=revisits)
                break
            except BrowserCrashed:
                if not left:
                    raise
        if problem:
            page_id, url = self._record.page_id, self._record.url
            raise BrowserCrashed(
                f"Page {page_id!r} is not open any more, and {url} does not open again: {problem}",
                hint=f"Go on elsewhere: {next_call('goto', page_id=page_id, url='...')}.",
            )
        return self._tabs.tab is not None and self._tabs.tab is not known

    async def _open(self, *, revisits: bool) -> str:
        """Return why its URL could not be loaded, if so. Raises BrowserCrashed where what it stands on died."""
        tabs, record = self._tabs, self._record
        if tabs.life is Life.SUSPECT:  # for want of its own scripts, or because nothing answers any more
            await self._browser.end_if_hanging(_HANGS_AFTER_S)
        await self._browser.context()
        if tabs.life.live and record.life is not Life.SUSPECT:  # found again in a browser that runs on without us
            return ""
        tabs.abandon()
        page = await self._browser.open_window()
        record.family = record.page_id
        if record.place.history:
            await walk(page, record.place.history)
        await tabs.adopt(page)
        if not revisits:
            return ""
        with contextlib.suppress(PlaywrightError):  # the page works without it
            await self._allow_position()
        return await self._revisit(page)

    async def _revisit(self, page: Page) -> str:
        """Go where the page was. Where that fails it is lost again, and never takes a blank for what it was."""
        try:
            await page.goto(self._record.url, timeout=_REVIVE_MS, wait_until="domcontentloaded")
        except asyncio.CancelledError:
            self._tabs.abandon()
            raise
        except PlaywrightError as error:
            dead = await self.died(error)
            self._tabs.abandon()
            if dead:
                raise BrowserCrashed(f"Page {self._record.page_id!r} ended while it was loaded again.") from error
            return str(error).splitlines()[0]
        return ""

    async def _allow_position(self) -> None:
        """Repeat that a site may ask where the page is, which it was allowed in a browser that is gone."""
        origin, tab = origin_of(self._record.url), self._tabs.tab
        if self._settings.emulation.settings.get("geolocation") and origin and tab is not None and tab.cdp is not None:
            await allow_position(tab.cdp, origin)

    # --- what is said of an end ----------------------------------------------------------------------------------

    def cause(self) -> str:
        """Say in words how the tab ended; nothing where it was left, or is of another time."""
        life = self._tabs.life
        if life.died:
            return "the page's renderer crashed"
        return self._browser.ended() if life.live or life is Life.LOST else ""

    async def died(self, error: PlaywrightError) -> bool:
        """Say whether an error is of a tab that died, which Playwright may tell as a navigation that was given up."""
        tab = self._tabs.tab
        if "ERR_ABORTED" in str(error) and tab is not None:
            try:
                async with asyncio.timeout(_PROBE_S):
                    await tab.page.evaluate("1")
            except TimeoutError:
                return False
            except PlaywrightError as second:
                error = second
        if errors.is_crash(error) and tab is not None:
            self.crashed(tab)  # before its own event
        life = self._tabs.life
        ended = tab is not None and not (life.live or life.over or life is Life.VANISHED)
        return errors.is_closed(error) or ended

    async def _unresponsive(self) -> TimedOut:
        """While it loads, Playwright answers for a page's title; it does not while a script runs."""
        record, tab = self._record, self._tabs.tab
        reload = f"{next_call('reload_page', page_id=record.page_id)}."
        why, hint = "a script keeps it busy, or its browser hangs", f"Replace it, its login stays: {reload}"
        if tab is not None and await tab.title() is not None:
            why = "it goes to a URL whose server has not answered yet"
            hint = f"Give it time, or stop that: {reload}"
        return TimedOut(f"Page {record.page_id!r} does not respond: {why}.", hint=hint, details={"url": record.url})

    def _refused(self) -> BrowserCrashed:
        page_id, url = self._record.page_id, self._record.url
        return BrowserCrashed(
            f"Page {page_id!r} crashed {CRASHES} times within a minute at {url}; it is not loaded again by itself.",
            hint=f"Go elsewhere: {next_call('goto', page_id=page_id, url='...')}. Try it once more: "
            f"{next_call('reload_page', page_id=page_id)}.",
            details={"url": url, "context": {"crashes": CRASHES}},
        )
