"""Applies what hosts report to the directory, the clients and the journal."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from browse_together.contract.calls import ASKING, Notice
from browse_together.contract.errors import JournalFailed
from browse_together.contract.events import (
    CallEnded,
    CallMoved,
    DownloadMoved,
    HostEvent,
    LoginOver,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageMoved,
    PageOpened,
    PageRetired,
    RequestOver,
    SessionTold,
    StateSaved,
)
from browse_together.contract.model import Json, weight
from browse_together.contract.pages import PageState
from browser_service.clients.downloads import Downloads
from browser_service.clients.presence import Clients
from browser_service.host.seam import CallKey
from browser_service.rules.bounded import Bounded
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from browser_service.sessions.directory import Directory
from browser_service.sessions.latest_states import LatestStates
from browser_service.store.health import Storage
from browser_service.store.journal import Journal

_MOST_SAVED_STATES = 1_000
_MOST_SAVED_BYTES = 64_000_000
"""With the number, the limit of states that were saved under names but cannot be written while the disk is full.
Callers choose the names, and each was told that its save failed."""
_SEEN = ("revision", "url", "title", "error_page", "dialog", "access")


@dataclass(eq=False)
class HostEvents:
    """What hosts report, applied at once, and what of it the journal must still write."""

    directory: Directory
    clients: Clients
    journal: Journal
    seal: Seal
    latest: LatestStates
    storage: Storage
    downloads: Downloads
    secrets: NamedSecrets
    on_person: Callable[[PageState], None]
    people_url: Callable[[], str]
    """Returns the address by which people reach the service; empty if none is configured."""

    def __post_init__(self) -> None:
        self._writing = asyncio.Lock()
        self._unwritten: dict[str, None] = {}
        self._unsaved = Bounded[tuple[str, str], StateSaved](
            _MOST_SAVED_STATES,
            weigh=lambda saved: weight(saved.state),
            most_weight=_MOST_SAVED_BYTES,
            spared=lambda saved: not saved.name,
        )
        self.on_call_ended: Callable[[CallEnded], None] = lambda _: None
        self.on_retired: Callable[[PageRetired], None] = lambda _: None
        self.on_request_over: Callable[[RequestOver], None] = lambda _: None
        self.on_login_over: Callable[[LoginOver], None] = lambda _: None
        self.on_logins: Callable[[str, Json], None] = lambda _, __: None
        """Called with a session and its latest logins."""
        self.on_page: Callable[[str], None] = lambda _: None
        """Called with the id of each page that was opened, changed or closed."""

    async def rewrite(self) -> None:
        """Write all pages again, because the journal has a new file."""
        self._unwritten |= dict.fromkeys(page.page_id for page in self.directory.pages())

    def owes_logins(self, session_id: str, name: str) -> bool:
        """Return whether logins saved under this name are not on disk yet."""
        return (session_id, name) in self._unsaved

    def owed_logins(self, session_id: str) -> Json | None:
        """Return a session's latest logins if they are not on disk yet."""
        owed = self._unsaved.get((session_id, ""))
        return owed.state if owed is not None else None

    def session_closed(self, session_id: str) -> None:
        """Drop the unwritten logins of a closed session, and what was told of it."""
        self.latest.session_closed(session_id)
        self.on_logins(session_id, {})
        for owed in [owed for owed in self._unsaved if owed[0] == session_id]:
            self._unsaved.pop(owed, None)

    def note_all(self, pages: Iterable[PageState], has: Callable[[str], bool]) -> None:
        """Take the pages of a host as they are now, and drop the others of the sessions that it `has`."""
        found = {page.page_id: self.secrets.concealment.message(page) for page in pages if has(page.session_id)}
        for page in self.directory.pages():
            if has(page.session_id) and page.page_id not in found:
                self.apply(PageClosed(page_id=page.page_id, session_id=page.session_id))
        for page in found.values():
            self.apply(PageChanged(page=page))

    async def tell(self, events: Iterable[HostEvent]) -> None:
        """Apply what happened to a session while it was on no host, and write it down."""
        for event in events:
            self.apply(event)
        await self.write_down()

    def session_lost(self, session_id: str) -> None:
        """Fail what the pages of a session downloaded when its host was lost, and tell whose it was."""
        page_ids = {page.page_id for page in self.directory.pages_of(session_id)}
        for download in self.downloads.fail(page_ids, "its host is gone"):
            self.clients.notify(download.client_id, Notice(text=download.line, page_id=download.page_id))

    def apply(self, event: HostEvent) -> None:
        match event:
            case PageOpened() | PageChanged():
                self._note(event.page)
                self.on_page(event.page.page_id)
            case PageClosed():
                self._drop(event.page_id)
                self.latest.page_closed(event.session_id, event.page_id)
                self._unwritten[event.page_id] = None
                self.on_page(event.page_id)
            case PageRetired() | CallEnded() | RequestOver() | LoginOver():
                self._pass_on(event)
            case CallMoved():
                self.clients.send(self._for_client(event))
            case NoticeGiven():
                self._notify(event)
            case StateSaved() | SessionTold():
                self._keep(event)
            case DownloadMoved():
                self.downloads.note(event.download)

    def _pass_on(self, event: PageRetired | CallEnded | RequestOver | LoginOver) -> None:
        if isinstance(event, PageRetired):
            self.on_retired(event)
        elif isinstance(event, CallEnded):
            self.on_call_ended(event)
        elif isinstance(event, LoginOver):
            self.on_login_over(event)
        else:
            self.on_request_over(event)

    def _keep(self, event: StateSaved | SessionTold) -> None:
        """Have logins written down; keep those of a session that ends with the service in memory, and all else that is
        told of sessions."""
        if isinstance(event, StateSaved) and not event.name:
            self.on_logins(event.session_id, event.state)
        if isinstance(event, SessionTold):
            self.latest.note(event)
        elif event.name or self.directory.sessions.is_persistent(event.session_id):
            self._unsaved[event.session_id, event.name] = event
        else:
            self.latest.note_state(event)

    def _notify(self, event: NoticeGiven) -> None:
        if event.client_id:
            self.clients.notify(event.client_id, event.notice)
        else:
            self.storage.report(event.notice.text)

    def _note(self, page: PageState) -> None:
        """Take a page as it is now. Clients are told if its revision, URL, title or the like changed; most reports are
        only about its lease."""
        known = self.directory.get(page.page_id)
        if known is None or any(getattr(known, name) != getattr(page, name) for name in _SEEN):
            self._tell(page)
        if self.directory.note(page):
            self._unwritten[page.page_id] = None
        if page.person is not None and (known is None or known.person is None):
            self.on_person(page)

    def _for_client(self, event: CallMoved) -> CallMoved:
        """Return the event with the client's own callId, and the address where a person answers."""
        call_id = CallKey.parse(event.call_id).call_id.partition(ASKING)[0]
        people_url = self.people_url() if event.request else ""
        return event.model_copy(update={"call_id": call_id, "people_url": people_url})

    def _drop(self, page_id: str) -> None:
        if page := self.directory.get(page_id):
            self._tell(page)
        self.directory.drop(page_id)

    def _tell(self, page: PageState) -> None:
        moved = PageMoved(page_id=page.page_id, session_id=page.session_id, revision=page.revision)
        self.clients.page_moved(moved, lambda client_id: self.directory.open_to(page, client_id))

    async def write_down(self) -> None:
        """Write changed pages, logins and downloads to the journal. If that fails, they are written later."""
        if not (self._unwritten or self._unsaved or self.downloads.unwritten):
            return
        async with self._writing:
            try:
                await self._write_down()
            except JournalFailed as error:  # the act is done; it will be written with the next event
                self.storage.failed(error)

    async def _write_down(self) -> None:
        had_debts = bool(self._unwritten or self._unsaved)
        await self.downloads.write_down()
        for page_id in [*self._unwritten]:
            page = self.directory.get(page_id)
            closed = self.directory.closed.get(page_id)
            await (self.journal.keep_page(page) if page else self.journal.close_page(page_id, closed))
            if self.directory.get(page_id) is page:  # else another host's feed has it written once more
                self._unwritten.pop(page_id, None)
        for (session_id, name), saved in [*self._unsaved.items()]:
            sealed = self.seal.close(saved.state)
            await (
                self.journal.keep_saved(session_id, name, sealed, saved.client_id)
                if name
                else self.journal.keep_state(session_id, sealed)
            )
            if self._unsaved.get((session_id, name)) is saved:
                del self._unsaved[session_id, name]
        if had_debts:
            self.storage.worked()
