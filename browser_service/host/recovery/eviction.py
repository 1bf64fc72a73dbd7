"""Makes room at the limit of pages: closes the page abandoned longest, which can be opened again."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from browser_service.host.background import Background
from browser_service.host.capacity import Capacity
from browser_service.host.page.parking import Parkable, Parking
from browser_service.host.page.settings import PageSettings
from browser_service.host.recovery.closed_page import remember
from browser_service.host.registry import PageRegistry
from shared.calls import ClientRef, Undoable
from shared.events import HostEvent, PageRetired


class Evictable(Parkable, Protocol):
    """The parts of a page that its eviction needs."""

    @property
    def settings(self) -> PageSettings: ...


@dataclass(eq=False)
class Eviction:
    """Closes abandoned pages, but none that a person, a lease, a hold, a dialog or a call needs."""

    capacity: Capacity
    parking: Parking
    registry: PageRegistry
    emit: Callable[[HostEvent], None]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _background: Background = field(default_factory=Background)

    async def make_room(self, session_id: str, newcomer: ClientRef | None) -> None:
        """Make room for one more page of the session, unless nothing is abandoned."""
        async with self._lock:
            while crowded := self.capacity.crowded_pages(session_id):
                found = (self.registry.find(record.page_id) for record in crowded)
                abandoned = self.parking.abandoned([page for page in found if page is not None])
                if not abandoned:
                    return
                await self._retire(abandoned[0], newcomer)

    async def _retire(self, page: Evictable, newcomer: ClientRef | None) -> None:
        former = await remember(page.record, page.current, page.settings)
        if not self.parking.abandoned([page]):
            return  # somebody has come back to it meanwhile
        state = page.record.state()
        undo = Undoable(
            body={"action": "close_page", "pageId": state.page_id},
            page_id=state.page_id,
            session_id=state.session_id,
            what=f"page {state.page_id} closed to make room",
            state=former,
        )
        self.registry.forget(page.record)
        self._background.spawn(page.current.leave())
        self.emit(PageRetired(page=state, undo=undo, newcomer=newcomer))
