"""Says if there is room for one more page: in its session, in all, and in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from browser_service.host.launching.memory import Memory
from browser_service.host.page.record import PageRecord
from browser_service.host.seam import HostLimits
from shared.errors import ResourceExhausted
from shared.model import Json
from shared.next_calls import next_call


@dataclass(frozen=True)
class Capacity:
    """Counts pages and memory. It never touches what is open already."""

    records: Callable[[], list[PageRecord]]
    limits: HostLimits
    memory: Memory

    async def measure(self) -> None:
        """Measure again if memory was short: something may have been closed since."""
        if self.memory.is_short:
            await self.memory.measure(max_age_s=1)

    def crowded_pages(self, session_id: str) -> list[PageRecord]:
        """Return the pages of which one must go before the session can have one more; none if there is room."""
        limits = self.limits
        if limits.session_pages and len(of_session := self._of(session_id)) >= limits.session_pages:
            return of_session
        return self.records() if len(self.records()) >= limits.max_pages else []

    def reached_limit(self, session_id: str) -> int:
        """Return the limit of pages that is reached; 0 if there is room."""
        limits = self.limits
        if len(self.records()) >= limits.max_pages:
            return limits.max_pages
        return limits.session_pages if self.crowded_pages(session_id) else 0

    def check(self, session_id: str, client_id: str) -> None:
        """Raise ResourceExhausted if there is no room, naming what could be closed."""
        if most := self.reached_limit(session_id):
            of_all = len(self.records()) >= self.limits.max_pages
            pages = self.records() if of_all else self._of(session_id)
            where, setting = ("", "MAX_PAGES") if of_all else (f' in session "{session_id}"', "SESSION_PAGES")
            problem = f"{most} pages are open{where}, which is the limit (BROWSE_{setting})"
            limit: Json = {"limit": "pages" if of_all else "sessionPages", "value": most}
            raise _exhausted(problem, _closable(pages, client_id), limit)
        if self.memory.is_short:
            used, most = self.memory.used_mb, self.memory.limit_mb
            problem = f"The browsers have {used:,} MB of memory, and {most:,} MB is the limit (BROWSE_MEMORY_MB)"
            limit = {"limit": "memoryMb", "value": most, "usedMb": used}
            raise _exhausted(f"{problem}; no page was opened", _closable(self.records(), client_id), limit)

    def _of(self, session_id: str) -> list[PageRecord]:
        return [page for page in self.records() if page.session_id == session_id]


def _closable(pages: Iterable[PageRecord], client_id: str) -> list[str]:
    """Name one's own pages, then those that nobody holds; the longest idle first."""
    by_age = sorted(pages, key=lambda page: page.used_at)
    own = [page.page_id for page in by_age if page.holder_id == client_id]
    return own + [page.page_id for page in by_age if page.lease is None and not page.of_person]


def _exhausted(problem: str, closable: list[str], context: Json) -> ResourceExhausted:
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
