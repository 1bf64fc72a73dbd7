"""Passes a host's events on to the directory, the clients and the journal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from browser_service.clients.downloads import Downloads
from browser_service.clients.presence import Clients
from browser_service.host.seam import CallKey, SessionHost
from browser_service.rules.bounded import Bounded
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from browser_service.security.urls import origin_of
from browser_service.sessions.directory import Directory
from browser_service.spine.politeness import Origins
from browser_service.store.health import Storage
from browser_service.store.journal import Journal
from shared.calls import ASKING, Notice
from shared.errors import JournalFailed
from shared.events import (
    CallEnded,
    CallMoved,
    DownloadMoved,
    EventBatch,
    HostEvent,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageMoved,
    PageOpened,
    PageRetired,
    StateSaved,
    Throttled,
)
from shared.model import weight
from shared.pages import PageState

_POLL_MS = 20_000
_BATCH = 500
_MOST_SAVED_STATES = 1_000
_MOST_SAVED_BYTES = 64_000_000
"""With the number, the limit of states that were saved under names but cannot be written while the disk is full.
Callers choose the names, and each was told that its save failed."""
_SEEN = ("revision", "url", "title", "error_page", "dialog", "access")


@dataclass(eq=False)
class Feed:
    """The reader of a host's events, which applies each once and in order, however often it is delivered."""

    host: SessionHost
    directory: Directory
    clients: Clients
    journal: Journal
    seal: Seal
    storage: Storage
    origins: Origins
    downloads: Downloads
    secrets: NamedSecrets
    on_person: Callable[[PageState], None]
    people_url: Callable[[], str]
    """Returns the address by which people reach the service; empty if none is configured."""

    def __post_init__(self) -> None:
        self._incarnation = ""
        self._seq = 0
        self._lock = asyncio.Lock()
        self._unwritten: dict[str, None] = {}
        self._unsaved = Bounded[tuple[str, str], StateSaved](
            _MOST_SAVED_STATES,
            weigh=lambda saved: weight(saved.state),
            most_weight=_MOST_SAVED_BYTES,
            spared=lambda saved: not saved.name,
        )
        self.on_call_ended: Callable[[CallEnded], None] = lambda _: None
        self.on_retired: Callable[[PageRetired], None] = lambda _: None
        self.on_page: Callable[[str], None] = lambda _: None
        """Called with the id of each page that was opened, changed or closed."""

    async def run(self) -> None:
        """Follow the host until cancelled."""
        while True:
            await self._apply_all(await self.host.events_after(self._seq, _POLL_MS, _BATCH))

    async def rewrite(self) -> None:
        """Write all pages again, because the journal has a new file."""
        self._unwritten |= dict.fromkeys(page.page_id for page in self.directory.pages())

    def owes_logins(self, session_id: str, name: str) -> bool:
        """Return whether logins saved under this name are not on disk yet."""
        return (session_id, name) in self._unsaved

    async def catch_up(self) -> None:
        """Apply all events that the host has, and write what must be on disk."""
        full = True
        while full:
            batch = await self.host.events_after(self._seq, 0, _BATCH)
            await self._apply_all(batch)
            full = len(batch.events) == _BATCH

    async def session_closed(self, session_id: str) -> None:
        """Apply all events of a closed session, and drop its unwritten logins."""
        await self.catch_up()
        for owed in [owed for owed in self._unsaved if owed[0] == session_id]:
            self._unsaved.pop(owed, None)

    async def _apply_all(self, batch: EventBatch) -> None:
        async with self._lock:
            if batch.incarnation != self._incarnation:  # a restarted host counts from one again
                self._incarnation, self._seq = batch.incarnation, 0
            for event in batch.events:
                if event.seq > self._seq:
                    self._seq = event.seq
                    self._apply(self.secrets.concealment.message(event))
            try:
                await self._write_down()
            except JournalFailed as error:  # the act is done; it will be written with the next event
                self.storage.failed(error)

    def _apply(self, event: HostEvent) -> None:
        match event:
            case PageOpened() | PageChanged():
                self._tell_if_changed(event.page)
                self._note(event.page)
                self.on_page(event.page.page_id)
            case PageClosed():
                self._drop(event.page_id)
                self._unwritten[event.page_id] = None
                self.on_page(event.page_id)
            case PageRetired():
                self.on_retired(event)
            case CallMoved():
                self.clients.send(self._for_client(event))
            case CallEnded():
                self.on_call_ended(event)
            case NoticeGiven():
                self._notify(event)
            case StateSaved():
                self._unsaved[event.session_id, event.name] = event
            case DownloadMoved():
                self.downloads.note(event.download)
            case Throttled():
                self._pause(event)

    def _notify(self, event: NoticeGiven) -> None:
        if event.client_id:
            self.clients.notify(event.client_id, event.notice)
        else:
            self.storage.report(event.notice.text)

    def _note(self, page: PageState) -> None:
        if self.directory.note(page):
            self._unwritten[page.page_id] = None
        if page.person is not None:
            self.on_person(page)

    def _for_client(self, event: CallMoved) -> CallMoved:
        """Return the event with the client's own callId, and the address where a person answers."""
        call_id = CallKey.parse(event.call_id).call_id.partition(ASKING)[0]
        people_url = self.people_url() if event.request else ""
        return event.model_copy(update={"call_id": call_id, "people_url": people_url})

    def _tell_if_changed(self, page: PageState) -> None:
        """Tell clients about a page whose revision, URL, title or the like changed; most reports are only about its
        lease."""
        old = self.directory.get(page.page_id)
        if old is None or any(getattr(old, name) != getattr(page, name) for name in _SEEN):
            self._tell(page)

    def _drop(self, page_id: str) -> None:
        if page := self.directory.get(page_id):
            self._tell(page)
        self.directory.drop(page_id)

    def _tell(self, page: PageState) -> None:
        moved = PageMoved(page_id=page.page_id, session_id=page.session_id, revision=page.revision)
        self.clients.page_moved(moved, lambda client_id: self.directory.open_to(page, client_id))

    def _pause(self, event: Throttled) -> None:
        text = self.origins.throttled(origin_of(event.url) or event.url, event)
        if text and event.client_id is not None:
            self.clients.notify(event.client_id, Notice(text=text))

    async def _write_down(self) -> None:
        """Write changed pages, logins and downloads to the journal."""
        if not (had_debts := bool(self._unwritten or self._unsaved)) and not self.downloads.unwritten:
            return
        await self.downloads.write_down()
        for page_id in [*self._unwritten]:
            page = self.directory.get(page_id)
            closed = self.directory.closed.get(page_id)
            await (self.journal.keep_page(page) if page else self.journal.close_page(page_id, closed))
            del self._unwritten[page_id]
        for (session_id, name), saved in [*self._unsaved.items()]:
            sealed = self.seal.close(saved.state)
            await (
                self.journal.keep_saved(session_id, name, sealed, saved.client_id)
                if name
                else self.journal.keep_state(session_id, sealed)
            )
            self._unsaved.pop((session_id, name), None)
        if had_debts:
            self.storage.worked()
