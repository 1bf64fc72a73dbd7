"""Makes room: limits pages and memory, and chooses the pages and browsers to close when nobody uses them.

There is one order: first pages that their client has left, then the least recently used. A page that a person, a hold,
a dialog, a call, a download or a recording needs stays, and so does the browser that shows it.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import structlog
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import BrowseError, ResourceExhausted
from browse_together.contract.events import PageRetired
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Parked
from browser_service.host.background import bounded
from browser_service.host.calls import RunningCalls
from browser_service.host.events import EventLog
from browser_service.host.network.downloads import Downloads
from browser_service.host.pages.entry import PageEntry, pages_of
from browser_service.host.pages.visits import Visits
from browser_service.host.record.record import PageRecord, SavedPlace
from browser_service.host.record.saved_place import has_unsent_fields, history_of, place_of
from browser_service.host.seam import HostLimits
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.memory import Memory
from browser_service.host.sessions.pool import BrowserKind
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.sessions.spare_windows import SpareWindows
from browser_service.host.tabs.tab import Tab

_READS_WITHIN_S: Final = 2.0
_LOOKS_EVERY_S: Final = 5.0
_LEAST_S: Final = 0.1

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Room:
    pages: dict[str, PageEntry]
    sessions: dict[str, SessionEntry]
    running: RunningCalls
    downloads: Downloads
    launcher: Launcher
    memory: Memory
    limits: HostLimits
    log: EventLog
    forget: Callable[[PageRecord], None]
    """The function that removes a page from the host."""
    spare_windows: SpareWindows = field(init=False)
    visits: Visits = field(init=False)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)
    _background: Background = field(default_factory=Background)

    def __post_init__(self) -> None:
        self.spare_windows, self.visits = SpareWindows(self.limits.idle.spare_s), Visits(self.limits.idle)

    # --- room for one more page --------------------------------------------------------------------------------------

    async def measure(self) -> None:
        """Measure memory again if it was short: something may have been closed since."""
        if self.memory.is_short:
            await self.memory.measure()

    def reached_limit(self, session_id: str) -> int:
        """Return the limit of pages that is reached; 0 for none."""
        if len(self.pages) >= self.limits.max_pages:
            return self.limits.max_pages
        return self.limits.session_pages if self._crowd(session_id) else 0

    def check(self, session_id: str, client_id: str) -> None:
        """Raise ResourceExhausted if there is no room, naming what could be closed."""
        if most := self.reached_limit(session_id):
            of_all = len(self.pages) >= self.limits.max_pages
            where, setting = ("", " (BROWSE_MAX_PAGES)") if of_all else (f' in session "{session_id}"', "")
            problem = f"{most} pages are open{where}, which is the limit{setting}"
            limit: Json = {"limit": "pages" if of_all else "sessionPages", "value": most}
            raise _exhausted(problem, self.pages.values() if of_all else self._crowd(session_id), client_id, limit)
        if self.memory.is_short:
            used, most = self.memory.used_mb, self.memory.limit_mb
            problem = f"The browsers have {used:,} MB of memory, and {most:,} MB is the limit (BROWSE_MEMORY_MB)"
            limit = {"limit": "memoryMb", "value": most, "usedMb": used}
            raise _exhausted(f"{problem}; no page was opened", self.pages.values(), client_id, limit)

    async def make(self, session_id: str, newcomer: ClientRef | None) -> None:
        """Make room for one more page of the session by closing pages that their clients have left, if there are any.
        Each can be opened again."""
        async with self._making:
            while abandoned := [page for page in _in_order(self._crowd(session_id)) if self._is_abandoned(page)]:
                await self._retire(abandoned[0], newcomer)

    def _crowd(self, session_id: str) -> list[PageEntry]:
        """Return the pages among which one must go before the session can have one more; empty if there is room."""
        of_session = [page for page in self.pages.values() if page.record.session_id == session_id]
        if 0 < self.limits.session_pages <= len(of_session):
            return of_session
        return [*self.pages.values()] if len(self.pages) >= self.limits.max_pages else []

    async def _retire(self, page: PageEntry, newcomer: ClientRef | None) -> None:
        state = page.record.state()
        self.forget(page.record)
        self._background.spawn(page.tab_life.leave())
        self.log.emit(PageRetired(page=state, newcomer=newcomer))

    async def discard(self, page_id: str, idle_ms: int) -> None:
        """Close a page if it is blank, has been idle for `idle_ms`, and nobody needs it."""
        page = self.pages.get(page_id)
        if page is None or not page.record.untouched or page.record.idle_ms < idle_ms or self._must_stay(page):
            return
        self.forget(page.record)
        await bounded(page.tab_life.leave())

    # --- who needs a page --------------------------------------------------------------------------------------------

    def _needs(self, page: PageEntry) -> bool:
        has_call = bool(self.running.on_page(page.page_id))
        return page.needed or has_call or self.downloads.keep(page.page_id)

    def _must_stay(self, page: PageEntry) -> bool:
        """Say whether somebody needs the page as it is, in its window."""
        return self._needs(page) or page.irreplaceable

    def _is_abandoned(self, page: PageEntry) -> bool:
        return page.record.ownership.abandoned and not page.record.life.over and not self._needs(page)

    def _is_idle(self, page: PageEntry, idle_s: float) -> bool:
        """Say whether a page may be parked, because it and the windows of its family have been idle for `idle_s`."""
        horizon, family = time.monotonic() - idle_s, page.record.family
        related = [each for each in self.pages.values() if each.record.family == family and each.record.live]
        return page.record.live and all(
            each.record.used_at <= horizon and not self._must_stay(each) for each in related
        )

    # --- what is idle ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Sweep again and again, until cancelled."""
        idle = self.limits.idle
        pause_s = max(_LEAST_S, min(_LOOKS_EVERY_S, idle.browser_s / 3, (idle.page_s or math.inf) / 3))
        while True:
            await asyncio.sleep(pause_s)  # no event tells that a page has become idle
            try:
                await self.sweep()
            except Exception:  # the next sweeps go on after a failed one
                log.exception("what is idle could not be closed")

    async def sweep(self) -> None:
        """Park pages that have been idle too long, and more if memory is short; then close browsers that nobody
        uses."""
        await self.end_permissions()
        await self._close_left()
        for session in self.sessions.values():
            self.spare_windows.drop_unused(session, short=self.memory.is_short)
        for page in _in_order(self.pages.values()):
            await self._park(page, self._allowed_idle_s(page))
        await self.memory.measure()
        for page in _in_order(self.pages.values()):
            if not self.memory.is_short:
                break
            if await self._park(page, self.limits.idle.page_in_need_s):
                log.info("a page was parked, because memory is short", page=page.page_id, **self.memory.describe())
                await self.memory.measure()
        for kind in self._browsers_to_close():
            await self._close_browser(kind)

    async def _close_left(self) -> None:
        """Close the tabs of clients that have left in a person's browser, so that they do not gather there. Each page
        comes back by its id."""
        for page in [*self.pages.values()]:
            is_agents = page.session.attached and not page.record.of_person and page.record.tab is not None
            if is_agents and page.record.ownership.left_for_good and self._is_abandoned(page):
                await page.tab_life.leave()
                page.record.tell_changed()

    async def end_permissions(self, gone: str = "") -> None:
        """Take back permissions that clients granted to sites, once they hold no page of the session any more, or have
        left."""
        for session in [*self.sessions.values()]:
            leases = [page.lease for page in pages_of(session, self.pages)]
            holders = {lease.client_id for lease in leases if lease is not None and not lease.client_left}
            for origin in session.permissions.outlived(holders, gone) if session.live else []:
                with contextlib.suppress(BrowseError, PlaywrightError):
                    await session.grant(origin, [])

    def _allowed_idle_s(self, page: PageEntry) -> float:
        idle = self.limits.idle
        if not idle.page_s:
            return math.inf
        return min(idle.page_s, idle.page_abandoned_s) if self._is_abandoned(page) else idle.page_s

    async def _park(self, page: PageEntry, idle_s: float) -> bool:
        """Close the window of a page that has been idle for `idle_s`, and remember its place. Returns False if the page
        stays, because it has unsent input or somebody uses it."""
        tab = page.record.tab
        if tab is None or not self._is_idle(page, idle_s):
            return False
        place, has_unsent = await self._inspect(page, tab)
        if has_unsent or page.record.tab is not tab or not self._is_idle(page, idle_s):
            return False
        page.tab_life.park(place)
        page.record.tell_changed()
        await bounded(tab.page.close())
        return True

    async def _inspect(self, page: PageEntry, tab: Tab) -> tuple[SavedPlace, bool]:
        """Read where a page is, and whether it has unsent fields. If it does not answer, return what is known without
        it."""
        checks_fields = page.filled_fields.has_unsent or not self.launcher.options.headless
        try:
            async with asyncio.timeout(_READS_WITHIN_S):
                parked, storage = await place_of(tab.page)
                has_unsent = checks_fields and await has_unsent_fields(tab.page.frames)
                history = await history_of(tab)
        except (PlaywrightError, TimeoutError):
            return SavedPlace(Parked(loses=tab.acted_on)), checks_fields
        parked.loses |= tab.acted_on
        return SavedPlace(parked, storage, (*history, page.record.url) if history else ()), has_unsent

    def _browsers_to_close(self) -> list[BrowserKind | None]:
        """Return the browsers to close: unused ones beyond the minimum, and those within it that have no session. The
        minimum keeps the shared browser first, then those used most recently."""
        idle = self.visits.look(self._live([*self.sessions.values()]))
        running: list[BrowserKind | None] = [None] if self.launcher.shared_runs else []
        running += sorted(self.launcher.pool.running, key=self._used_at, reverse=True)
        minimum, surplus = running[: idle.browsers_kept], running[idle.browsers_kept :]
        without_sessions = [kind for kind in minimum if kind is not None and not self._sessions_of(kind)]
        return without_sessions + [kind for kind in surplus if not self._is_used(kind, idle.browser_s)]

    def _sessions_of(self, kind: BrowserKind | None) -> list[SessionEntry]:
        return [
            session for session in self.sessions.values() if session.kind == kind and not session.in_persons_browser
        ]

    def _live(self, sessions: list[SessionEntry]) -> list[PageEntry]:
        return [page for page in self.pages.values() if page.session in sessions and page.record.live]

    def _used_at(self, kind: BrowserKind | None) -> float:
        return max((session.used_at for session in self._sessions_of(kind)), default=0.0)

    def _is_used(self, kind: BrowserKind | None, idle_s: float) -> bool:
        sessions = self._sessions_of(kind)
        return (
            (kind is None and self.launcher.profile.is_reserved)
            or time.monotonic() - self._used_at(kind) < idle_s
            or any(run.call.session_id == each.session_id for run in self.running.values() for each in sessions)
            or any(session.recordings or session.tracing.running for session in sessions)
            or not all(self._is_idle(page, idle_s) for page in self._live(sessions))
        )

    async def _close_browser(self, kind: BrowserKind | None) -> None:
        """Close a browser that nobody uses. A call that comes meanwhile keeps it open, or opens it again."""
        sessions, idle_s = self._sessions_of(kind), self.visits.idle.browser_s
        for page in self._live(sessions):
            if not await self._park(page, idle_s):
                return
        if not all([await session.logins.save_before_close() for session in sessions]) or self._is_used(kind, idle_s):
            return
        if any(session.logins.unsaved for session in sessions) or self._live(sessions):
            return
        log.info("a browser that nobody used is closed", kind=kind or "shared")
        for context in [session.let_go() for session in sessions]:
            if context is not None:
                await bounded(context.close())
        await self.launcher.close_unused(kind)


def _in_order(pages: Iterable[PageEntry]) -> list[PageEntry]:
    """Sort pages by which should go first."""
    return sorted(pages, key=lambda page: (not page.record.ownership.abandoned, page.record.used_at))


def _exhausted(problem: str, pages: Iterable[PageEntry], client_id: str, context: Json) -> ResourceExhausted:
    """Make the error that names the pages to close: the client's own, then those that nobody holds."""
    by_age = sorted((page.record for page in pages), key=lambda record: record.used_at)
    closable = [record.page_id for record in by_age if record.holder_id == client_id]
    closable += [record.page_id for record in by_age if record.lease is None and not record.of_person]
    close = (
        next_call("close_page", page_id=closable[0])
        if closable
        else f"{next_call('list_pages', all=True)} shows whose they are"
    )
    return ResourceExhausted(
        f"{problem}. Pages that are open go on working.",
        hint=f"Go to the URL in a page that you have, or make room: {close}.",
        details={"context": {**context, "pages": [*closable[:10]]}},
    )
