"""Makes room at the limit of pages: closes the page abandoned longest, which can be opened again."""

import asyncio
from collections.abc import Callable

from browser_service.host.background import Background
from browser_service.host.capacity import Room
from browser_service.host.page.entry import PageEntry
from browser_service.host.page.parking import Parking
from browser_service.host.recovery.closed_page import remember
from browser_service.host.registry import PageRegistry
from shared.calls import ClientRef, Undoable
from shared.events import HostEvent, PageRetired


class Eviction:
    """Closes abandoned pages, but none that a person, a lease, a hold, a dialog or a call needs."""

    def __init__(self, room: Room, parking: Parking, registry: PageRegistry, emit: Callable[[HostEvent], None]) -> None:
        self._room = room
        self._parking = parking
        self._registry = registry
        self._emit = emit
        self._one_at_a_time = asyncio.Lock()
        self._background = Background()

    async def make_room(self, session_id: str, newcomer: ClientRef | None) -> None:
        """Make room for one more page of the session, unless nothing is abandoned."""
        async with self._one_at_a_time:
            while crowd := self._room.crowd(session_id):
                known = (self._registry.find(page.page_id) for page in crowd)
                abandoned = self._parking.abandoned([page for page in known if page is not None])
                if not abandoned:
                    return
                await self._retire(abandoned[0], newcomer)

    async def _retire(self, entry: PageEntry, newcomer: ClientRef | None) -> None:
        known = await remember(entry)
        if not self._parking.abandoned([entry]):
            return  # somebody has come back to it meanwhile
        page_id, state = entry.page_id, entry.record.state()
        undo = Undoable(
            body={"action": "close_page", "pageId": page_id},
            page_id=page_id,
            session_id=state.session_id,
            what=f"page {page_id} closed to make room",
            state=known,
        )
        self._registry.forget(entry)
        self._background.spawn(entry.leave())
        self._emit(PageRetired(page=state, undo=undo, newcomer=newcomer))
