"""Whether there is room for one more page: in its session, in all, and in memory."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from browser_service.host.launching.memory import Memory
from browser_service.host.seam import HostLimits
from shared.errors import ResourceExhausted
from shared.model import Json

if TYPE_CHECKING:
    from browser_service.host.page.entry import PageEntry
    from browser_service.host.session import SessionEntry


class Room:
    """What is open already is never touched by it."""

    def __init__(self, pages: Mapping[str, "PageEntry"], limits: HostLimits, memory: Memory) -> None:
        self._pages = pages
        self._limits = limits
        self._memory = memory

    async def look(self) -> None:
        """Where memory was short: something may have been closed since."""
        if self._memory.short:
            await self._memory.look(at_most_s=1)

    def crowd(self, session: "SessionEntry") -> "list[PageEntry]":
        """The pages of which one must go before the session can have one more; none where there is room."""
        limits = self._limits
        if limits.session_pages and len(of_session := self._of(session)) >= limits.session_pages:
            return of_session
        return [*self._pages.values()] if len(self._pages) >= limits.max_pages else []

    def full(self, session: "SessionEntry") -> int:
        """The limit of pages that is reached; 0 where there is room."""
        limits = self._limits
        if len(self._pages) >= limits.max_pages:
            return limits.max_pages
        return limits.session_pages if self.crowd(session) else 0

    def check(self, session: "SessionEntry", client_id: str) -> None:
        """Raises ResourceExhausted, naming what could be closed."""
        if most := self.full(session):
            of_all = len(self._pages) >= self._limits.max_pages
            pages = self._pages.values() if of_all else self._of(session)
            where, setting = ("", "MAX_PAGES") if of_all else (f' in session "{session.session_id}"', "SESSION_PAGES")
            problem = f"{most} pages are open{where}, which is the limit (BROWSE_{setting})"
            limit: Json = {"limit": "pages" if of_all else "sessionPages", "value": most}
            raise _exhausted(problem, _closable(pages, client_id), limit)
        if self._memory.short:
            used, most = self._memory.used_mb, self._memory.limit_mb
            problem = f"The browsers have {used:,} MB of memory, and {most:,} MB is the limit (BROWSE_MEMORY_MB)"
            limit = {"limit": "memoryMb", "value": most, "usedMb": used}
            raise _exhausted(f"{problem}; no page was opened", _closable(self._pages.values(), client_id), limit)

    def _of(self, session: "SessionEntry") -> "list[PageEntry]":
        return [entry for entry in self._pages.values() if entry.session is session]


def _closable(pages: "Iterable[PageEntry]", client_id: str) -> list[str]:
    """One's own pages, then those that nobody holds; the longest idle first."""
    by_age = sorted(pages, key=lambda entry: entry.use.at)
    own = [entry.page_id for entry in by_age if entry.lease is not None and entry.lease.client_id == client_id]
    return own + [entry.page_id for entry in by_age if entry.lease is None and not entry.of_person]


def _exhausted(problem: str, closable: list[str], context: Json) -> ResourceExhausted:
    close = f'close_page {{"pageId": "{closable[0]}"}}' if closable else 'list_pages {"all": true} shows whose they are'
    return ResourceExhausted(
        f"{problem}. Pages that are open go on working.",
        hint=f"Go to the URL in a page that you have, or make room: {close}.",
        details={"context": {**context, "pages": [*closable[:10]]}},
    )
