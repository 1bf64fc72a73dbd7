"""Finds the page that a call is for, or opens it if the call may and there is room.

The front has decided on the name, the session and the right; here only the room counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from browse_together.contract.errors import PageNotFound, SessionNotFound
from browse_together.contract.events import PageOpened
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import PageState
from browser_service.host.calls import CallRun
from browser_service.host.events import EventLog
from browser_service.host.pages.entry import PageEntry
from browser_service.host.pages.registry import PageRegistry
from browser_service.host.pages.room import Room
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.stages.admission import Admission


@dataclass(frozen=True)
class Openings:
    pages: Mapping[str, PageEntry]
    sessions: Mapping[str, SessionEntry]
    registry: PageRegistry
    admission: Admission
    room: Room
    log: EventLog

    async def page_for(self, run: CallRun) -> PageEntry:
        """Open the page of a call, which is not there yet. Raises PageNotFound, SessionNotFound, and ResourceExhausted
        if there is no room."""
        page_id, session_id = run.call.page_id or "", run.call.session_id
        if (session := self.sessions.get(session_id or "")) is None:
            raise SessionNotFound(f"There is no session {session_id!r}.")
        if not run.call.opens:
            raise PageNotFound(f"There is no page {page_id!r}.", hint=f"See yours: {next_call('list_pages')}.")
        self.admission.check_url(run.action)
        await self.room.measure()
        await self.room.make(session.session_id, run.call.client)
        return self.pages.get(page_id) or self._open(run, session)  # of many first calls, one opens it

    def _open(self, run: CallRun, session: SessionEntry) -> PageEntry:
        """Make an entry for a new page; the call at the head of its queue opens the tab. Without an await, nobody else
        can take the room meanwhile."""
        call = run.call
        self.room.check(session.session_id, call.client_id)
        tab = run.action.asks_person is not None
        of_person = tab or call.by_person
        state = PageState(page_id=call.page_id or "", session_id=session.session_id, of_person=of_person)
        entry = self.registry.add(state, session)
        entry.record.awaits_tab = tab
        entry.record.ownership.take(call, run.action.addressed.agent)
        entry.record.unopened = not entry.record.awaits_tab
        if not entry.record.awaits_tab:  # of such a page, people hear once they are asked
            self.log.emit(PageOpened(page=entry.record.state()))
        return entry
