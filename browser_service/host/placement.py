"""Finds the page that a call is for, or makes it for a call that may open one, where there is room."""

from collections.abc import Mapping
from dataclasses import dataclass

from browser_service.host.admission import Admission
from browser_service.host.call_run import CallRun
from browser_service.host.events import EventLog
from browser_service.host.page.entry import PageEntry
from browser_service.host.registry import PageRegistry
from browser_service.host.room import Room
from browser_service.host.session import SessionEntry
from shared.actions.traits import Unaddressed
from shared.errors import PageNotFound, SessionNotFound
from shared.events import PageOpened
from shared.next_calls import next_call
from shared.pages import PageState


@dataclass(frozen=True)
class Placement:
    """Gives each call its page."""

    pages: Mapping[str, PageEntry]
    sessions: Mapping[str, SessionEntry]
    registry: PageRegistry
    admission: Admission
    room: Room
    log: EventLog

    async def page_for(self, run: CallRun) -> PageEntry:
        """Return the page of a call. Raises PageNotFound, SessionNotFound, and ResourceExhausted where there is no
        room."""
        await self.room.measure()
        await self._make_room(run)
        return self._entry(run)

    async def _make_room(self, run: CallRun) -> None:
        """Close an abandoned page where there is no room for one that the call makes, and may make."""
        call, session = run.call, self.sessions.get(run.call.session_id or "")
        makes = run.action.unaddressed is Unaddressed.NEW_PAGE or call.undo is not None
        if session is None or call.page_id in self.pages or not makes:
            return
        self.admission.check_url(run.action)
        await self.room.make(session.session_id, call.client)

    def _entry(self, run: CallRun) -> PageEntry:
        """Find the page of a call, or create it for one that may. No await: of many first calls, one creates."""
        call, action = run.call, run.action
        page_id = call.page_id or ""
        entry = self.pages.get(page_id)
        if entry is not None:
            return entry
        session = self.sessions.get(call.session_id or "")
        if session is None:
            raise SessionNotFound(f"There is no session {call.session_id!r}.")
        reopens = call.undo is not None and action.closes_page
        if action.unaddressed is not Unaddressed.NEW_PAGE and not reopens:
            raise PageNotFound(f"There is no page {page_id!r}.", hint=f"See yours: {next_call('list_pages')}.")
        self.room.check(session.session_id, call.client_id)
        if reopens:
            entry = self.registry.reopen(session, call)
        else:
            state = PageState(page_id=page_id, session_id=session.session_id)
            entry = self.registry.add(state, session)
            entry.record.ownership.take(call, action.agent)
        self.log.emit(PageOpened(page=entry.record.state()))
        return entry
