"""THE SPINE, back half: the host that runs in this process."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import structlog

from browser_service.host.admission import admit, check_origin, check_others
from browser_service.host.background import Background, within
from browser_service.host.call_run import Handler, Running
from browser_service.host.capacity import Room
from browser_service.host.close import bounded
from browser_service.host.dialogs import Dialogs
from browser_service.host.events import EventLog, sendable
from browser_service.host.files import ArtifactPort
from browser_service.host.kept_outcomes import Replies
from browser_service.host.launching.memory import Memory
from browser_service.host.network.downloads import Downloads
from browser_service.host.page.entry import PageEntry
from browser_service.host.page.life import Life, LifeEvent
from browser_service.host.page.parking import Parking
from browser_service.host.partial import account
from browser_service.host.recovery import crashes
from browser_service.host.recovery.closed_page import bring_back, remember, reopen
from browser_service.host.recovery.eviction import Retiring
from browser_service.host.recovery.idleness import Idling
from browser_service.host.recovery.reversal import TAKES_BACK
from browser_service.host.registry import PageRegistry
from browser_service.host.run import bring_up, perform, perform_live, perform_on_session
from browser_service.host.seam import HostLimits
from browser_service.host.session import SessionEntry
from browser_service.host.session_handle import BrowserSession
from browser_service.host.steps import Parts
from browser_service.observability.logging import unexpected
from browser_service.rules.leases import Lease
from browser_service.security.urls import UrlPolicy, abridged_in
from browser_service.waits import turn_on
from shared import catalogue
from shared.actions.base import Action
from shared.actions.traits import Lane, Scope, Unaddressed
from shared.calls import Call, CallState, ClientRef, Notice, Outcome
from shared.errors import (
    BrowseError,
    ErrorBody,
    PageNotFound,
    PageOwned,
    SessionNotFound,
)
from shared.events import CallEnded, CallMoved, EventBatch, NoticeGiven, PageChanged, PageOpened, StateSaved
from shared.model import Json
from shared.next_calls import next_call
from shared.pages import Answer, Figures, PageState, SessionOptions, SessionSpec

if TYPE_CHECKING:
    from browser_service.host.launching.launcher import Launcher

_log = structlog.get_logger(__name__)

_REMEMBERED = 2_000
_AT_REST_WITHIN_S = 5
_VIDEOS_END_WITHIN_S = 5
_SESSIONS_CLOSE_WITHIN_S = 8


class LocalHost:
    """Sessions, pages, leases and turns in this process."""

    def __init__(
        self,
        launcher: "Launcher",
        handlers: Mapping[str, Handler],
        artifacts: ArtifactPort,
        policy: UrlPolicy,
        limits: HostLimits,
    ) -> None:
        self.incarnation = secrets.token_hex(6)
        self._launcher = launcher
        self._handlers = handlers
        self._artifacts = artifacts
        self._policy = policy
        self._limits = limits
        self._sessions: dict[str, SessionEntry] = {}
        self._pages: dict[str, PageEntry] = {}
        self._replies = Replies()
        self._working: set[asyncio.Task[None]] = set()
        self._running: dict[str, Running] = {}
        self._cancelled: OrderedDict[str, None] = OrderedDict()
        self._background = Background()
        self._upkeep = Background()
        self._log = EventLog(self.incarnation)
        self._dialogs = Dialogs(self._pages, self._running, self._log.emit, limits.dialog_wait_ms)
        self._parts = Parts(self._admit, handlers, artifacts, self._dialogs)
        self._downloads = Downloads(artifacts, self._log.emit, limits.download_max_mb)
        self._memory = Memory(limits.memory_mb, lambda: launcher.driver)
        self._room = Room(self._pages, limits, self._memory)
        self._registry = PageRegistry(
            *(self._pages, self._log, self._dialogs, policy, limits),
            downloads=self._downloads,
            busy=self._busy,
            room=self._room,
        )
        self._parking = Parking(*(self._pages, self._running, self._downloads), headed=not launcher.options.headless)
        self._retiring = Retiring(self._room, self._parking, self._registry, self._log.emit)
        self._registry.make_room = self._retiring.make_room
        self.idling = Idling(
            *(self._pages, self._sessions, self._running),
            launcher=launcher,
            parking=self._parking,
            memory=self._memory,
            idle=limits.idle,
        )

    # --- the seam ------------------------------------------------------------------------------------------------

    async def run(self, call: Call) -> Outcome:
        reply = self._replies.get(call.call_id)
        if reply is None:
            reply = self._replies.expect(call.call_id)
            task = asyncio.create_task(self._work(call, reply))
            self._working.add(task)
            task.add_done_callback(self._working.discard)
        return await asyncio.shield(reply)

    async def _work(self, call: Call, reply: "asyncio.Future[Outcome]") -> None:
        """Bring a call to its end. Where a dialog has it replied before, its end is told as an event."""
        last: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        outcome = await self._outcome(call, reply, last)
        last.set_result(outcome)
        if not reply.done():
            reply.set_result(outcome)
        elif reply.result().suspended:
            self._log.emit(CallEnded(client_id=call.client_id, outcome=outcome))
        self._replies.given(reply.result())

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        try:
            await self._launcher.check_installed(options)
        except BrowseError as error:
            return error.body()
        return None

    async def open(self, spec: SessionSpec) -> None:
        if spec.session_id in self._sessions:
            return
        session = SessionEntry(spec, self._launcher, self._policy, pages=self._registry, on=self)
        self._sessions[spec.session_id] = session
        for state in spec.pages:
            bring_back(self._registry, session, state, spec.former.get(state.page_id))

    async def close(self, session_id: str) -> SessionSpec | None:
        session = self._sessions.pop(session_id, None)
        if session is None:
            return None
        entries = self._pages_of(session)
        pages, former = [entry.record.state() for entry in entries], await asyncio.gather(*map(remember, entries))
        keep_back = any(entry.record.dialog or entry.life is Life.SUSPECT for entry in entries)
        for entry in entries:
            self._registry.forget(entry, LifeEvent.SESSION_CLOSED)
        await session.close(whole=not keep_back)
        if session.kind is not None and session.kind.session_id:
            await self._launcher.rest(session.kind)
        known = {page.page_id: each for page, each in zip(pages, former, strict=True)}
        return session.spec.model_copy(update={"pages": pages, "former": known})

    async def cancel(self, call_id: str) -> None:
        running = self._running.get(call_id)
        if running is None:
            self._cancelled[call_id] = None
            while len(self._cancelled) > _REMEMBERED:
                self._cancelled.popitem(last=False)
            return
        running.cancel.request()
        self._dialogs.cancelled(running)
        entry = self._pages.get(running.call.page_id or "")
        if entry is not None:
            entry.queue.cancel(call_id)

    async def release(self, client_id: str, before_seq: int) -> None:
        for entry in self._pages.values():
            entry.seen.pop(client_id, None)
            if entry.record.ownership.leave(client_id, before_seq):
                self._log.emit(PageChanged(page=entry.record.state()))

    async def answer(self, request_id: str, answer: Answer) -> bool:
        return self._registry.people.answer(request_id, answer)

    async def discard(self, page_id: str, idle_ms: int) -> None:
        entry = self._pages.get(page_id)
        if entry is not None and self._parking.to_discard(entry, idle_ms):
            self._registry.forget(entry)
            await bounded(entry.leave())

    async def describe(self) -> list[PageState]:
        return [entry.record.state() for entry in self._pages.values()]

    async def figures(self) -> Figures:
        parked = sum(entry.record.place.parked is not None for entry in self._pages.values())
        return Figures(
            pages=len(self._pages),
            parked=parked,
            browsers=self._launcher.running,
            memory_mb=self._memory.used_mb,
            memory_limit_mb=self._memory.limit_mb,
        )

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        return await self._log.after(seq, wait_ms, limit)

    async def start(self) -> None:
        """Tidy up after a service that was killed; attach, so that the tabs of a running browser are known, or have
        the shared login ready for the first call."""
        await self._launcher.clear()
        for session in self._sessions.values():
            if self._launcher.attached or (session.profile and self._limits.idle.browsers_kept):
                self._background.spawn(self._warm(session))
        self._upkeep.spawn(self.idling.run())
        self._upkeep.spawn(self._save_now_and_then())

    async def _warm(self, session: SessionEntry) -> None:
        try:
            await session.context()
        except BrowseError as error:  # the first call tries again, and tells its caller
            _log.warning("no browser yet", session=session.session_id, reason=error.message)

    async def _save_now_and_then(self) -> None:
        """Scripts change what a page stores without any act or answer that would tell."""
        while True:
            await asyncio.sleep(self._limits.save_every_ms / 1000)
            for session in [*self._sessions.values()]:
                if session.live and any(entry.live for entry in self._pages_of(session)):
                    await session.logins.save()

    def end_calls(self) -> None:
        """The service is going to end: what has not begun did not happen, and a person's answer is waited for later."""
        self._registry.people.stop()
        for running in [*self._running.values()]:
            running.cancel.request(ending=True)

    async def stop(self) -> None:
        """End in good order: calls cancelled, cookies saved, browser closed. Each step is bounded."""
        self.end_calls()
        self._dialogs.stop()
        await self._upkeep.stop()
        if self._working:
            await asyncio.wait(self._working, timeout=5)
        videos = [video for session in self._sessions.values() for video in session.recordings]
        await within(_VIDEOS_END_WITHIN_S, *(video.end("the service stopped") for video in videos))
        for entry in [*self._pages.values()]:
            if entry.session.attached and not entry.record.of_person:
                await entry.leave()
        await self._downloads.stop()
        await within(_SESSIONS_CLOSE_WITHIN_S, *(session.close() for session in self._sessions.values()))
        await self._launcher.stop()

    # --- a call --------------------------------------------------------------------------------------------------

    async def _outcome(self, call: Call, reply: "asyncio.Future[Outcome]", last: "asyncio.Future[Outcome]") -> Outcome:
        entry: PageEntry | None = None
        running: Running | None = None
        lease: Lease | None = None
        result, error = None, None
        try:
            running = Running(call, catalogue.parse(call.body), reply, last)
            self._running[call.call_id] = running
            if call.call_id in self._cancelled:
                running.cancel.request()
            if running.action.pageless:
                return Outcome(call_id=call.call_id, result=await self._parts.without_page(running))
            if running.action.scope is Scope.SESSION:
                result = sendable(await self._on_session(running, running.action))
                return Outcome(call_id=call.call_id, result=result, undo=running.undo)
            await self._room.look()
            await self._make_room(running)
            entry = self._entry(running)
            lease = entry.lease
            result = sendable(await self._perform(entry, running))
        except BrowseError as failure:
            if running is not None and isinstance(failure, PageOwned) and not running.done:
                running.admitted = False  # it had only asked whether it may have the page
            told = account(running.action, running.done, running.at, failure) if running is not None else failure
            told.__traceback__ = failure.__traceback__
            crashes.describe(told, entry.record if entry is not None else None, self._memory)
            shown = abridged_in(told.body().model_dump(), _urls_of(running, entry))
            error = ErrorBody.model_validate(sendable(cast("Json", shown)))
        except Exception:  # noqa: BLE001 - a caller gets an outcome, whatever fails
            _log.exception("call failed unexpectedly", call_id=call.call_id, action=call.body.get("action"))
            error = unexpected("The service failed at this call.").body()
        finally:
            self._running.pop(call.call_id, None)
            if entry is not None and running is not None:
                self._after(entry, running, taken=entry.lease is not lease)
        page = (
            entry.record.state() if entry is not None and (result is not None or not entry.record.life.over) else None
        )
        outcome = Outcome(call_id=call.call_id, result=result, error=error, page=page)
        if running is not None:
            outcome.url_before, outcome.requests, outcome.undo = running.url_before, running.requests, running.undo
        return outcome

    async def _perform(self, entry: PageEntry, running: Running) -> Json:
        call, action = running.call, running.action
        running.check_not_cancelled()
        self._admit(entry, running)
        handler = self._handler(running)
        page = self._parts.page(entry, running)
        if (action.lane is Lane.BESIDE and call.undo is None) or self._dialogs.open_beside(entry.record):
            if action.wakes_page and not entry.live:
                await self._live_in_a_turn(entry, running)
            running.admitted = True
            return await perform(entry, running, handler, page)
        async with turn_on(entry.queue, call, action.name(), self._limits.queue_wait_ms) as waited:
            running.check_not_cancelled()
            self._admit(entry, running)
            if waited:
                self._started(running)
            running.admitted = True
            return await perform_live(entry, running, handler, page)

    async def _on_session(self, running: Running, action: Action) -> Json:
        """An action on a whole session: these queue among themselves, and no page's turn waits for them."""
        session = self._sessions.get(running.call.session_id or "")
        if session is None:
            raise SessionNotFound(f"There is no session {running.call.session_id!r}.")
        self._launcher.check_free()
        if url := action.asked_url:
            self._policy.check(url)
        seen, handler = BrowserSession(session, running.call, self._artifacts, running.undoable), self._handler(running)
        pages = self._pages_of(session)
        check_others(action, running.call.client_id, [page.record for page in pages])
        session.used_at = time.monotonic()
        if action.lane is Lane.BESIDE:
            return await perform_on_session(seen, running, handler, pages)
        async with turn_on(session.queue, running.call, action.name(), self._limits.queue_wait_ms):
            running.check_not_cancelled()
            self._launcher.check_free()
            pages = self._pages_of(session)
            check_others(action, running.call.client_id, [page.record for page in pages])
            result = await perform_on_session(seen, running, handler, pages)
            for entry in self._pages_of(session):
                entry.look_at_trace()  # it may have just begun
            return result

    def _handler(self, running: Running) -> Handler:
        """What does the act, or takes it back."""
        kept = running.call.undo
        if kept is None:
            return self._handlers[running.action.name()]
        take_back = TAKES_BACK[running.action.name()]
        return lambda on, _: take_back(on, kept)

    def _pages_of(self, session: SessionEntry) -> list[PageEntry]:
        return [entry for entry in self._pages.values() if entry.session is session]

    async def _live_in_a_turn(self, entry: PageEntry, running: Running) -> None:
        """A waiting call on a page that is not open: open it in a turn, then wait beside."""
        async with turn_on(entry.queue, running.call, running.action.name(), self._limits.queue_wait_ms):
            await bring_up(entry, running)

    def _admit(self, entry: PageEntry, running: Running) -> None:
        call, action = running.call, running.action
        self._launcher.check_free()
        if not entry.record.guarded and entry.live:
            self._policy.check(entry.record.url)
        for each in (action, *action.parts()):
            self._check_url(each, entry.record.url)
        taken_from = admit(entry.record, call, action)
        if taken_from is not None:
            who = call.client_label or "another client"
            entry.tell(taken_from.client_id, f'"{who}" took {entry.page_id}, which you had left idle.')
            entry.tell(call.client_id, f'{entry.page_id} was taken from "{taken_from.label}", idle until now.')
        check_origin(entry.record, call, action, (page.record for page in self._pages.values()))
        self._dialogs.check(entry.record, call, action)

    def _check_url(self, action: Action, page_url: str = "") -> None:
        """Only what a caller asks for by itself may lead to a page of its own making."""
        url = action.asked_url
        if url and action.navigates:
            self._policy.check_own(url)
        elif url:
            self._policy.check_from(page_url if action.from_page else "", url)

    def _busy(self, client_id: str, page_id: str) -> bool:
        return any(
            running.call.client_id == client_id and running.call.page_id == page_id
            for running in self._running.values()
        )

    async def _make_room(self, running: Running) -> None:
        """A page that is to be made, and may be, takes the place of one that was abandoned, where there is no other."""
        call, session = running.call, self._sessions.get(running.call.session_id or "")
        makes = running.action.unaddressed is Unaddressed.NEW_PAGE or call.undo is not None
        if session is None or call.page_id in self._pages or not makes:
            return
        self._check_url(running.action)
        await self._retiring.make_room(session.session_id, ClientRef(client_id=call.client_id, label=call.client_label))

    def _entry(self, running: Running) -> PageEntry:
        """The page of a call; those that may create one do. No await: of many first calls, one creates."""
        call, action = running.call, running.action
        page_id = call.page_id or ""
        entry = self._pages.get(page_id)
        if entry is not None:
            return entry
        session = self._sessions.get(call.session_id or "")
        if session is None:
            raise SessionNotFound(f"There is no session {call.session_id!r}.")
        reopens = call.undo is not None and action.closes_page
        if action.unaddressed is not Unaddressed.NEW_PAGE and not reopens:
            raise PageNotFound(f"There is no page {page_id!r}.", hint=f"See yours: {next_call('list_pages')}.")
        self._room.check(session.session_id, call.client_id)
        if reopens:
            entry = reopen(self._registry, session, call)
        else:
            state = PageState(page_id=page_id, session_id=session.session_id)
            entry = self._registry.add(state, session)
            entry.record.ownership.take(call, action.agent)
        self._log.emit(PageOpened(page=entry.record.state()))
        return entry

    def _after(self, entry: PageEntry, running: Running, *, taken: bool) -> None:
        """Follow up on what the call did to the page. A holder is idle from the end of its last call on. A call that
        was refused has used nothing, though it may have `taken` the page before."""
        call = running.call
        if running.admitted:
            entry.record.used()
            entry.session.used_at = entry.record.used_at
        if entry.lease is not None and entry.lease.client_id == call.client_id and running.action.opens:
            entry.lease.renew(call.seq)
        new = entry.record.revision == 0 or call.undo is not None
        never_opened = entry.tab is None and new and not entry.record.life.over and not entry.queue.busy
        if entry.record.life.over or never_opened:
            self._registry.forget(entry)
            return
        if running.admitted or taken:
            entry.changed()
        if running.admitted:
            entry.session.logins.save_soon()

    def _started(self, running: Running) -> None:
        """Told to those who were told that they wait; the others know it by the reply, mostly sooner."""
        call = running.call
        self._log.emit(CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.RUNNING))

    # --- what sessions tell --------------------------------------------------------------------------------------

    async def at_rest(self) -> None:
        """Let what runs on pages end, or end it where it takes too long; then save all logins."""
        ending = [running for running in self._running.values() if not running.action.outlives_client]
        if ending:
            _, late = await asyncio.wait({running.last for running in ending}, timeout=_AT_REST_WITHIN_S)
            for running in ending:
                if running.last in late:
                    await self.cancel(running.call.call_id)
            if late:
                await asyncio.wait(late, timeout=_AT_REST_WITHIN_S)
        for session in self._sessions.values():
            await session.logins.save(whole=True)

    def moved(self, event: CallMoved) -> None:
        self._log.emit(event)

    def opened(self) -> None:
        if not self._launcher.attached:
            self._upkeep.spawn(self._memory.glance())

    def say(self, text: str) -> None:
        self._log.emit(NoticeGiven(client_id="", notice=Notice(text=text)))

    def state(self, session_id: str, state: Json, name: str = "") -> None:
        self._log.emit(StateSaved(session_id=session_id, state=state, name=name))


def _urls_of(running: Running | None, entry: PageEntry | None) -> list[str]:
    """What a call may tell of: where it was to go, and where its page is."""
    asked = [running.action, *running.action.parts()] if running is not None else []
    urls = [each.asked_url for each in asked]
    return [*filter(None, urls), *([entry.record.url] if entry is not None else [])]
