"""The back half of the spine: the host in this process."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

import structlog

from browse_together.contract.background import Background
from browse_together.contract.calls import Call, ClientRef, Outcome
from browse_together.contract.errors import BrowseError, ErrorBody, PageNotFound
from browse_together.contract.events import EventBatch, HostEvent, PageOpened
from browse_together.contract.frames import Frame, Pointed, View
from browse_together.contract.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from browse_together.contract.strokes import Strokes
from browser_service.host.background import within
from browser_service.host.calls import Handler, RunningCalls
from browser_service.host.events import EventLog
from browser_service.host.network.downloads import Downloads
from browser_service.host.network.guard import BrowserGuard
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.pages.entry import Common, PageEntry, pages_of
from browser_service.host.pages.person_tabs import PersonTabs
from browser_service.host.pages.registry import PageRegistry
from browser_service.host.pages.room import Room
from browser_service.host.pages.upkeep import Keeping
from browser_service.host.pipeline import Pipeline
from browser_service.host.record.life import Life, LifeEvent
from browser_service.host.record.record import PageRecord
from browser_service.host.record.saved_place import remember
from browser_service.host.seam import ArtifactPort, HostLimits, action_of
from browser_service.host.sessions.memory import Memory
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.stages.admission import Admission
from browser_service.host.stages.openings import Openings
from browser_service.host.stages.rules import RequestRules
from browser_service.host.tabs.tab import Tab
from browser_service.host.watching.pointing import point
from browser_service.rules.bounded import Bounded
from browser_service.rules.human import HeldPage
from browser_service.rules.human_requests import HumanRequests
from browser_service.security.urls import UrlPolicy

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from browser_service.host.sessions.launcher import Launcher

_log = structlog.get_logger(__name__)

_AT_REST_WITHIN_S = 5
_VIDEOS_END_WITHIN_S = 5
_SESSIONS_CLOSE_WITHIN_S = 8
_MOST_CLOSED = 200


class LocalHost:
    """The sessions, pages, leases and turns in this process."""

    def __init__(
        self,
        launcher: "Launcher",
        handlers: Mapping[str, Handler],
        artifacts: ArtifactPort,
        policy: UrlPolicy,
        limits: HostLimits,
    ) -> None:
        # Longer than 40 lines, because the parts are made here in the order in which they need each other.
        self.launcher = launcher
        self._policy = policy
        self._limits = limits
        self.sessions: dict[str, SessionEntry] = {}
        self._closed = Bounded[str, asyncio.Task[SessionSpec]](_MOST_CLOSED)
        self.pages: dict[str, PageEntry] = {}
        self.elsewhere = limits.elsewhere
        self.keeping = Keeping(self.sessions, self.pages, self.emit)
        self.running = RunningCalls()
        self._background = Background()
        self._upkeep = Background()
        self._log = EventLog(secrets.token_hex(6))
        self.dialogs = Dialogs(self.pages, self.running, limits.dialog_wait_ms)
        self.downloads = Downloads(artifacts, self._log, limits.download_max_mb)
        self.memory = Memory(limits.memory_mb, launcher)
        self.room = Room(
            *(self.pages, self.sessions, self.running, self.downloads, launcher, self.memory, limits, self._log),
            forget=self._forget,
        )
        rules = RequestRules(limits.act_rules, self._live_pages, self.running)
        self._guard = BrowserGuard(policy, limits.act_rules, rules)
        self.people = HumanRequests(
            *(self._log.emit, self._records, self._note_held),
            lambda seconds, look: asyncio.get_running_loop().call_later(seconds, look),
        )
        held = (self.running, self.dialogs, self.downloads, self.people)
        self._registry = PageRegistry(self.pages, Common(self._log, policy, limits, artifacts, *held), self.room)
        self._pipeline = self._make_pipeline(handlers, artifacts)
        seen = (launcher, self.pages, self.sessions, self._registry, self.room)
        self.persons = PersonTabs(*seen, policy, self.running, self._log, self._pipeline.cancel)

    def _browsers(self) -> "list[CDPSession]":
        """Return a CDP session for each of our browsers that runs."""
        live = {
            session.browser_id: session.windows.cdp
            for session in self.sessions.values()
            if session.windows is not None
            and session.windows.cdp is not None
            and session.live
            and not session.in_persons_browser
        }
        return [*live.values()]

    def _forget(self, page: PageRecord) -> None:
        self._registry.forget(page)

    def _note_held(self, page: HeldPage) -> None:
        if (entry := self.pages.get(page.page_id)) is not None:
            entry.note_held()
            if entry.record.awaits_tab and entry.record.person is None:
                self._registry.forget(entry.record)

    def _live_pages(self) -> list[tuple[PageRecord, Tab]]:
        return [(entry.record, entry.record.tab) for entry in self.pages.values() if entry.record.tab is not None]

    def _make_pipeline(self, handlers: Mapping[str, Handler], artifacts: ArtifactPort) -> Pipeline:
        admission = Admission(self._records, self._policy, self.dialogs, self.launcher.profile)
        parts = (self._registry, admission, self.room, self._log)
        return Pipeline(
            *(self.pages, self.sessions, self.running, handlers, artifacts),
            openings=Openings(self.pages, self.sessions, *parts),
            admission=admission,
            dialogs=self.dialogs,
            registry=self._registry,
            memory=self.memory,
            log=self._log,
            limits=self._limits,
            spare_windows=self.room.spare_windows,
        )

    # --- the seam ------------------------------------------------------------------------------------------------

    async def run(self, call: Call) -> Outcome:
        return await self._pipeline.run(call)

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        try:
            if options.proxy is not None:
                self.launcher.gates.check(options.proxy)
            await self.launcher.check_installed(options)
        except BrowseError as error:
            return error.body()
        return None

    async def open(self, spec: SessionSpec) -> None:
        if (known := self.sessions.get(spec.session_id)) is not None:
            self.keeping.tell_again(known)
            return
        session = SessionEntry(spec, self.launcher, self._policy, self._guard, pages=self._registry, on=self)
        self.sessions[spec.session_id] = session
        for state in spec.pages:
            entry = self._registry.add(state, session, spec.former.get(state.page_id))
            self.emit(PageOpened(page=entry.record.state()))

    async def close(self, session_id: str) -> SessionSpec | None:
        if (session := self.sessions.pop(session_id, None)) is not None:
            self._closed[session_id] = asyncio.create_task(self._close(session))
        closing = self._closed.get(session_id)
        return None if closing is None else await asyncio.shield(closing)

    async def settle(self, session_id: str) -> None:
        self._closed.pop(session_id, None)

    async def _close(self, session: SessionEntry) -> SessionSpec:
        session.closing = True
        entries = pages_of(session, self.pages)
        pages = [entry.record.state() for entry in entries]
        moves = self._limits.elsewhere
        remembered = (remember(each.record, each.settings, moves=moves) for each in entries)
        former = await asyncio.gather(*remembered)
        keep_back = any(entry.record.dialog or entry.record.life is Life.SUSPECT for entry in entries)
        await self._leave_attached(entries)
        for entry in entries:
            self._registry.forget(entry.record, LifeEvent.SESSION_CLOSED)
        await session.close(whole=not keep_back)
        if session.kind is not None and session.kind.session_id:
            await self.launcher.close_unused(session.kind)
        known = {page.page_id: each for page, each in zip(pages, former, strict=True)}
        return session.spec.model_copy(update={"pages": pages, "former": known})

    async def cancel(self, call_id: str) -> None:
        await self._pipeline.cancel(call_id)

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        for entry in self.pages.values():
            if entry.record.tab is not None:
                entry.record.tab.views.pop(client_id, None)
            if entry.record.ownership.leave(client_id, before_seq, for_good=for_good):
                entry.record.tell_changed()
        self._background.spawn(self.room.end_permissions(gone=client_id))

    async def rename(self, client: ClientRef, former: str) -> None:
        for request in self._registry.people.requests.values():
            request.rename(client)
        for record in self._records():
            asks = record.person is not None and client.client_id in record.person.askers
            if record.ownership.rename(client, former) or asks:
                record.tell_changed()

    async def forget(self, client_ids: list[str], labels: list[str]) -> None:
        for record in self._records():
            if record.ownership.forget(client_ids, labels):
                record.tell_changed()

    async def answer(self, request_id: str, answer: Answer) -> bool:
        return self._registry.people.answer(request_id, answer)

    async def discard(self, page_id: str, idle_ms: int) -> None:
        await self.room.discard(page_id, idle_ms)

    async def describe(self) -> list[PageState]:
        return [record.state() for record in self._records()]

    async def figures(self) -> Figures:
        return Figures(
            pages=len(self.pages),
            parked=sum(record.place.parked is not None for record in self._records()),
            sessions=len(self.sessions),
            browsers=self.launcher.running,
            browser_restarts=self.launcher.restarts,
            memory_mb=self.memory.used_mb,
            memory_limit_mb=self.memory.limit_mb,
        )

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        return await self._log.after(seq, wait_ms, limit)

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        entry = self.pages.get(page_id)
        return None if entry is None else await entry.screencast.frame_after(seq, wait_ms, view)

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        try:
            if (entry := self.pages.get(call.page_id or "")) is not None:
                self._pipeline.admission.check_read(entry.record, call, action_of(call))
        except BrowseError as error:
            return error.body()
        return None

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        try:
            if (entry := self.pages.get(page_id)) is None:
                raise PageNotFound(f"There is no page {page_id!r}.")
            await entry.hand.do(strokes, self._pipeline.artifacts)
        except BrowseError as error:
            return error.body()
        entry.record.mark_used()
        entry.tab_life.read_title_soon()
        return None

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        try:
            if (entry := self.pages.get(page_id)) is None:
                raise PageNotFound(f"There is no page {page_id!r}.")
            return await point(entry.record, (x, y), picks=picks)
        except BrowseError as error:
            return Pointed(problem=error.body())

    async def start(self) -> None:
        """Clean up after a service that was killed. Then attach to a running browser, so that its tabs are known, or
        prepare the shared login for the first call."""
        await self.launcher.clear()
        for session in self.sessions.values():
            if self.launcher.options.cdp_url or (
                session.profile and not session.attached and self._limits.idle.browsers_kept
            ):
                self._background.spawn(self._warm(session))
        self._upkeep.spawn(self.room.run())
        self._upkeep.spawn(self.launcher.watchdog.run(self._browsers, self.running))
        self._upkeep.spawn(self.keeping.save_now_and_then(self._limits.save_every_ms / 1000))
        if self.elsewhere:
            self._upkeep.spawn(self.keeping.tell_now_and_then())

    async def _warm(self, session: SessionEntry) -> None:
        try:
            await session.context()
        except BrowseError as error:  # the first call tries again, and tells its caller
            _log.warning("no browser yet", session=session.session_id, reason=error.message)

    async def end_calls(self) -> None:
        """Cancel all calls. Requests to people stay open."""
        self._registry.people.stop()
        self.running.end_all()

    async def stop(self) -> list[SessionSpec]:
        await self.end_calls()  # each step is bounded
        self.dialogs.dismiss_all()
        await self._upkeep.stop()
        await self.running.wait_until_ended()
        videos = [video for session in self.sessions.values() for video in session.recordings]
        await within(_VIDEOS_END_WITHIN_S, *(video.end("the service stopped") for video in videos))
        await self._leave_attached([*self.pages.values()])
        await self.downloads.stop()
        await within(_SESSIONS_CLOSE_WITHIN_S, *(session.close() for session in self.sessions.values()))
        await self.launcher.stop()
        return [self._spec_of(session) for session in self.sessions.values()]

    @staticmethod
    async def _leave_attached(entries: list[PageEntry]) -> None:
        """Close our windows in a person's browser, which goes on."""
        for entry in entries:
            if entry.session.attached and not entry.record.of_person:
                await entry.tab_life.leave()

    def _records(self) -> list[PageRecord]:
        return [entry.record for entry in self.pages.values()]

    def _spec_of(self, session: SessionEntry) -> SessionSpec:
        pages = [entry.record.state() for entry in pages_of(session, self.pages)]
        return session.spec.model_copy(update={"pages": pages})

    # --- what sessions tell --------------------------------------------------------------------------------------

    async def at_rest(self) -> None:
        """Let the calls on pages end, and cancel those that take too long; then save all logins."""
        await self._pipeline.wait_until_idle(_AT_REST_WITHIN_S)
        for session in self.sessions.values():
            await session.logins.save(with_storage=True)

    def opened(self) -> None:
        self._upkeep.spawn(self.memory.measure())

    def emit(self, event: HostEvent) -> None:
        self._log.emit(event)
