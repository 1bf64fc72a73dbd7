"""Parks pages that nobody uses: closes their windows, and remembers where they were, for the next call."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeVar

from playwright.async_api import Error as PlaywrightError

from browser_service.host.call_run import CallRun
from browser_service.host.close import bounded
from browser_service.host.network.downloads import Downloads
from browser_service.host.page.current_tab import CurrentTab
from browser_service.host.page.place import has_unsent_fields, history_of, place_of
from browser_service.host.page.record import PageRecord, Place
from browser_service.host.page.tab import Tab
from browser_service.host.recovery.filled_fields import FilledFields
from shared.events import HostEvent
from shared.pages import Parked

_READS_WITHIN_S: Final = 2.0


class Parkable(Protocol):
    """Has the parts of a page that its parking needs."""

    @property
    def record(self) -> PageRecord: ...

    @property
    def current(self) -> CurrentTab: ...

    @property
    def filled_fields(self) -> FilledFields: ...

    @property
    def needed(self) -> bool:
        """True while a person, a hold, a dialog, a call in its queue or a recording needs it at all."""

    @property
    def irreplaceable(self) -> bool:
        """True where another window would not show what this one does, or is not ours to close."""


Page = TypeVar("Page", bound=Parkable)


class _Inspection(NamedTuple):
    """Holds what a page was found to have before it is parked."""

    place: Place
    has_unsent_fields: bool
    """Something was entered that is not sent."""


@dataclass(eq=False)
class Parking:
    """Chooses pages that may be parked, and parks them. Whoever uses a page later waits for nothing done here."""

    pages: Mapping[str, Parkable]
    running: Mapping[str, CallRun]
    downloads: Downloads
    emit: Callable[[HostEvent], None]
    headed: bool

    def idle(self, idle_s: float, pages: Iterable[Page]) -> list[Page]:
        """Return the pages that nobody used for so long, and that nothing keeps; the longest idle first."""
        horizon = time.monotonic() - idle_s
        found = [
            page
            for page in pages
            if page.current.live
            and all(each.record.used_at <= horizon and not self.must_stay(each) for each in self._family(page))
        ]
        return sorted(found, key=lambda page: page.record.used_at)

    def abandoned(self, pages: Iterable[Page]) -> list[Page]:
        """Return the pages that no client has any more, and that nothing keeps; the longest idle first."""
        found = [
            page
            for page in pages
            if page.record.ownership.abandoned and not page.record.life.over and not self.needed(page)
        ]
        return sorted(found, key=lambda page: page.record.used_at)

    def must_stay(self, page: Parkable) -> bool:
        """Say whether somebody needs the page as it is, in its window."""
        return self.needed(page) or page.irreplaceable

    def needed(self, page: Parkable) -> bool:
        """Say whether somebody needs the page at all."""
        page_id = page.record.page_id
        return page.needed or self.has_call(page_id) or self.downloads.running_on(page_id)

    def has_call(self, page_id: str) -> bool:
        """Say whether a call runs on a page."""
        return any(run.call.page_id == page_id for run in [*self.running.values()])

    def may_discard(self, page: Parkable, idle_ms: int) -> bool:
        """Say whether a page is blank, idle for so long, and needed by nobody."""
        return page.record.untouched and page.record.idle_ms >= idle_ms and not self.must_stay(page)

    async def park(self, page: Parkable, idle_s: float) -> bool:
        """Park a page that is idle for so long. Returns False if it was not parked, because something was entered and
        not sent, or because it is used again."""
        tab = page.current.tab
        if tab is None:
            return False
        found = await self._inspect(page, tab)
        if found.has_unsent_fields or page.current.tab is not tab or page not in self.idle(idle_s, [page]):
            return False
        page.current.park(found.place)
        self.emit(page.record.changed())
        await bounded(tab.page.close())
        return True

    def _family(self, page: Parkable) -> list[Parkable]:
        """Return the live pages that scripts opened from one another: they are parked together."""
        family = page.record.family
        return [each for each in self.pages.values() if each.record.family == family and each.current.live]

    async def _inspect(self, page: Parkable, tab: Tab) -> _Inspection:
        """Read where a page is, and whether it has unsent fields. If it does not answer, assume what is known."""
        checks_fields = page.filled_fields.has_unsent or self.headed
        try:
            async with asyncio.timeout(_READS_WITHIN_S):
                parked, storage = await place_of(tab.page)
                has_unsent = checks_fields and await has_unsent_fields(tab.page.frames)
                history = await history_of(tab)
        except (PlaywrightError, TimeoutError):
            return _Inspection(Place(Parked(loses=tab.acted_on)), has_unsent_fields=checks_fields)
        parked.loses |= tab.acted_on
        place = Place(parked, storage, (*history, page.record.url) if history else ())
        return _Inspection(place, has_unsent_fields=has_unsent)
