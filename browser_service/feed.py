"""What hosts tell, passed on: to the directory, to clients, and to the journal."""

import asyncio

from pydantic import JsonValue

from browser_service.browser.host import SessionHost
from browser_service.clients import Clients
from browser_service.directory import Directory
from browser_service.security.sealing import Seal
from browser_service.store.journal import Journal
from shared.calls import (
    CallMoved,
    CookiesSaved,
    EventBatch,
    HostEvent,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageOpened,
)

_POLL_MS = 20_000
_BATCH = 500


class Feed:
    """Reads a host's events in order, each once, however often they are delivered."""

    def __init__(self, host: SessionHost, directory: Directory, clients: Clients, journal: Journal, seal: Seal) -> None:
        self._host = host
        self._directory = directory
        self._clients = clients
        self._journal = journal
        self._seal = seal
        self._seq = 0
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Follow the host until cancelled."""
        while True:
            await self._apply_all(await self._host.events_after(self._seq, _POLL_MS, _BATCH))

    async def catch_up(self) -> None:
        """All that the host has told by now is known, and on disk where it must be, when this returns."""
        full = True
        while full:
            batch = await self._host.events_after(self._seq, 0, _BATCH)
            await self._apply_all(batch)
            full = len(batch.events) == _BATCH

    async def _apply_all(self, batch: EventBatch) -> None:
        async with self._lock:
            for event in batch.events:
                if event.seq > self._seq:
                    await self._apply(event)
                    self._seq = event.seq

    async def _apply(self, event: HostEvent) -> None:
        match event:
            case PageOpened() | PageChanged():
                if self._directory.note(event.page):
                    await self._journal.keep_page(event.page)
            case PageClosed():
                self._directory.drop(event.page_id)
                await self._journal.forget_page(event.page_id)
            case CallMoved():
                _, _, call_id = event.call_id.rpartition("/")
                self._clients.send(event.model_copy(update={"call_id": call_id}))
            case NoticeGiven():
                self._clients.notify(event.client_id, event.notice)
            case CookiesSaved():
                cookies: list[JsonValue] = [*event.cookies]
                await self._journal.keep_state(event.session_id, self._seal.close(cookies))
