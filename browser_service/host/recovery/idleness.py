"""Closes what nobody uses, windows of pages first and then browsers; sooner if memory is short."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from playwright.async_api import Error as PlaywrightError

from browser_service.host.call_run import CallRun
from browser_service.host.close import bounded
from browser_service.host.launching.launcher import Launcher
from browser_service.host.launching.memory import Memory
from browser_service.host.launching.pool import BrowserKind
from browser_service.host.page.parking import Parkable, Parking
from browser_service.host.seam import Idle
from browser_service.host.session import SessionEntry
from browser_service.host.spare_windows import SpareWindows
from shared.errors import BrowseError

_LOOKS_EVERY_S: Final = 5.0
_LEAST_S: Final = 0.1

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class IdleSweep:
    """Looks for what is idle every few seconds, and leaves what a person, a hold or a call needs."""

    pages: Mapping[str, Parkable]
    sessions: Mapping[str, SessionEntry]
    running: Mapping[str, CallRun]
    launcher: Launcher
    parking: Parking
    memory: Memory
    idle: Idle
    spare_windows: SpareWindows

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        times = [_LOOKS_EVERY_S, self.idle.browser_s / 3, *([self.idle.page_s / 3] if self.idle.page_s else [])]
        while True:
            await asyncio.sleep(max(_LEAST_S, min(times)))  # nothing happens when a page becomes idle
            try:
                await self.sweep()
            except Exception:  # a look that failed is no reason for the next ones not to be
                log.exception("what is idle could not be closed")

    async def sweep(self) -> None:
        if self.idle.page_s:
            abandoned_s = min(self.idle.page_s, self.idle.page_abandoned_s)
            abandoned = self.parking.abandoned([*self.pages.values()])
            for idle_s, pages in ((self.idle.page_s, [*self.pages.values()]), (abandoned_s, abandoned)):
                for page in self.parking.idle(idle_s, pages):
                    await self.parking.park(page, idle_s)
        await self.end_permissions()
        for session in self.sessions.values():
            self.spare_windows.drop_unused(session, short=self.memory.is_short)
        await self._free_memory()
        for kind in self._browsers_to_close():
            await self._close_browser(kind)

    async def end_permissions(self, gone: str = "") -> None:
        """Take back what sites were granted by clients that hold no page of the session any more, or that left."""
        for session_id, session in [*self.sessions.items()]:
            leases = [page.record.lease for page in self.pages.values() if page.record.session_id == session_id]
            holders = {lease.client_id for lease in leases if lease is not None and not lease.client_left}
            for origin in session.permissions.outlived(holders, gone) if session.live else []:
                with contextlib.suppress(BrowseError, PlaywrightError):
                    await session.grant(origin, [])

    async def _free_memory(self) -> None:
        """Park idle pages, one after another, until the browsers use less memory than their limit."""
        await self.memory.measure()
        for page in self.parking.idle(self.idle.page_in_need_s, self.pages.values()) if self.memory.is_short else []:
            if await self.parking.park(page, self.idle.page_in_need_s):
                log.info(
                    "a page was parked, because memory is short", page=page.record.page_id, **self.memory.describe()
                )
                await self.memory.measure(max_age_s=0)
            if not self.memory.is_short:
                return

    def _browsers_to_close(self) -> list[BrowserKind | None]:
        """Return the browsers above the minimum that nobody uses. The shared one comes last."""
        if self.launcher.attached and not self.launcher.pool.running:
            return []
        running: list[BrowserKind | None] = [None] if self.launcher.shared_runs else []
        running += sorted(self.launcher.pool.running, key=self._used_at, reverse=True)
        minimum, surplus = running[: self.idle.browsers_kept], running[self.idle.browsers_kept :]
        without_sessions = [kind for kind in minimum if kind is not None and not self._sessions_of(kind)]
        return without_sessions + [kind for kind in surplus if not self._busy(kind, self.idle.browser_s)]

    def _sessions_of(self, kind: BrowserKind | None) -> list[SessionEntry]:
        return [session for session in self.sessions.values() if session.kind == kind]

    def _live(self, sessions: list[SessionEntry]) -> list[Parkable]:
        ids = {session.session_id for session in sessions}
        return [page for page in self.pages.values() if page.record.session_id in ids and page.current.live]

    def _used_at(self, kind: BrowserKind | None) -> float:
        return max((session.used_at for session in self._sessions_of(kind)), default=0.0)

    def _busy(self, kind: BrowserKind | None, idle_s: float) -> bool:
        sessions = self._sessions_of(kind)
        pages = self._live(sessions)
        return (
            (kind is None and (self.launcher.attached or self.launcher.profile.is_reserved))
            or time.monotonic() - self._used_at(kind) < idle_s
            or any(run.call.session_id == each.session_id for run in self.running.values() for each in sessions)
            or any(session.recordings or session.tracing.running for session in sessions)
            or len(self.parking.idle(idle_s, pages)) < len(pages)
        )

    async def _close_browser(self, kind: BrowserKind | None) -> None:
        """Close a browser until somebody needs it. A call that comes meanwhile keeps it open, or opens it anew."""
        sessions, idle_s = self._sessions_of(kind), self.idle.browser_s
        for page in self._live(sessions):
            if not await self.parking.park(page, idle_s):
                return
        if not all([await session.logins.save_before_close() for session in sessions]) or self._busy(kind, idle_s):
            return
        if any(session.logins.unsaved for session in sessions) or self._live(sessions):
            return
        log.info("a browser that nobody used is closed", kind=kind or "shared")
        for context in [session.let_go() for session in sessions]:
            if context is not None:
                await bounded(context.close())
        await self.launcher.close_unused(kind)
