"""Runs the calls of a host: each is admitted, done in its turn, and ends with an outcome."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, cast

import structlog

from browser_service.host.act_check import check_session_act
from browser_service.host.admission import Admission
from browser_service.host.call_run import CallRun, Handler
from browser_service.host.confinement import confined
from browser_service.host.dialogs import Dialogs
from browser_service.host.events import EventLog, sendable
from browser_service.host.files import ArtifactPort
from browser_service.host.guard_check import check_guard
from browser_service.host.launching.memory import Memory
from browser_service.host.outcome_cache import OutcomeCache
from browser_service.host.page.crash_errors import add_crash_context
from browser_service.host.page.entry import PageEntry
from browser_service.host.page.handle import BrowserPage
from browser_service.host.page.life import Life
from browser_service.host.placement import Placement
from browser_service.host.privacy import is_shut_out, shut_out_calls, shut_out_error, stopped_calls, told_of_stop
from browser_service.host.recovery.reversal import REVERSALS
from browser_service.host.registry import PageRegistry
from browser_service.host.run import bring_up, perform, perform_live
from browser_service.host.seam import CallKey
from browser_service.host.session import SessionEntry
from browser_service.host.session_handle import BrowserSession, perform_on_session
from browser_service.host.spare_windows import SpareWindows
from browser_service.host.steps import StepRunner
from browser_service.observability.logging import unexpected
from browser_service.rules.bounded import Bounded
from browser_service.rules.leases import Lease
from browser_service.rules.partial import with_account
from browser_service.security.act_rules import ActRules
from browser_service.security.urls import abridged_in
from shared import catalogue
from shared.actions.base import Action
from shared.actions.traits import Lane, Scope
from shared.calls import Call, CallState, Outcome
from shared.errors import BrowseError, ErrorBody, PageOwned, SessionNotFound
from shared.events import CallEnded, CallMoved
from shared.model import Json

_log = structlog.get_logger(__name__)

_MOST_CANCELLED: Final = 2_000
_ENDS_WITHIN_S: Final = 5


@dataclass(eq=False)
class Calls:
    """Runs calls on the pages and sessions of a host, and keeps the outcomes of those that have ended lately."""

    pages: Mapping[str, PageEntry]
    sessions: Mapping[str, SessionEntry]
    running: dict[str, CallRun]
    handlers: Mapping[str, Handler]
    artifacts: ArtifactPort
    admission: Admission
    dialogs: Dialogs
    registry: PageRegistry
    placement: Placement
    memory: Memory
    log: EventLog
    queue_wait_ms: int
    act_rules: ActRules
    spare_windows: SpareWindows
    _replies: OutcomeCache = field(default_factory=OutcomeCache)
    _working: set[asyncio.Task[None]] = field(default_factory=set)
    _cancelled: Bounded[str, None] = field(default_factory=lambda: Bounded(_MOST_CANCELLED))
    _steps: StepRunner = field(init=False)

    def __post_init__(self) -> None:
        self._steps = StepRunner(self.admission.admit, self.handlers, self.artifacts)

    async def run(self, call: Call) -> Outcome:
        key = _reply_key(call)
        reply = self._replies.get(key)
        if reply is None:
            reply = self._replies.expect(key)
            task = asyncio.create_task(self._complete(call, reply))
            self._working.add(task)
            task.add_done_callback(self._working.discard)
        return await asyncio.shield(reply)

    async def _complete(self, call: Call, reply: "asyncio.Future[Outcome]") -> None:
        """Bring a call to its end. If a dialog made it reply before, its end is reported as an event."""
        structlog.contextvars.bind_contextvars(call_id=CallKey.parse(call.call_id).call_id)  # for this task alone
        end: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        outcome = await self._outcome(call, reply, end)
        end.set_result(outcome)
        if not reply.done():
            reply.set_result(outcome)
        elif reply.result().suspended:
            self.log.emit(CallEnded(client_id=call.client_id, outcome=outcome))
        self._replies.weigh(_reply_key(call))

    async def cancel(self, call_id: str) -> None:
        run = self.running.get(call_id)
        if run is None:
            self._cancelled[call_id] = None
            return
        run.cancel.request()
        self.dialogs.dismiss_for(run)
        entry = self.pages.get(run.call.page_id or "")
        if entry is not None:
            entry.queue.cancel(call_id)

    async def wait_until_idle(self, within_s: float) -> None:
        """Let those that run on pages come to their end; cancel those that take longer."""
        ending = [run for run in self.running.values() if not run.action.outlives_client]
        if not ending:
            return
        _, late = await asyncio.wait({run.outcome for run in ending}, timeout=within_s)
        for run in ending:
            if run.outcome in late:
                await self.cancel(run.call.call_id)
        if late:
            await asyncio.wait(late, timeout=within_s)

    def end(self) -> None:
        """Cancel them all: what has not begun did not happen."""
        for run in [*self.running.values()]:
            run.cancel.request(ending=True)

    async def wait_until_ended(self) -> None:
        """Wait for the end of those that were cancelled."""
        if self._working:
            await asyncio.wait(self._working, timeout=_ENDS_WITHIN_S)

    async def _outcome(self, call: Call, reply: "asyncio.Future[Outcome]", end: "asyncio.Future[Outcome]") -> Outcome:
        entry: PageEntry | None = None
        run: CallRun | None = None
        lease: Lease | None = None
        result, error = None, None
        try:
            run = CallRun(call, catalogue.parse(call.body), reply, end)
            self.running[call.call_id] = run
            if call.call_id in self._cancelled:
                run.cancel.request()
            if run.action.needs_no_page:
                return Outcome(call_id=call.call_id, result=await self._steps.without_page(run))
            if run.action.scope is Scope.SESSION:
                result = sendable(await self._on_session(run, run.action))
                return Outcome(call_id=call.call_id, result=result, undo=run.undo, waited_ms=run.waited_ms)
            entry = await self.placement.page_for(run)
            lease = entry.lease
            result = sendable(await self._perform(entry, run))
            runs = [*self.running.values()]
            ended = shut_out_calls(entry.record, run, runs) + stopped_calls(entry.record, run, runs)
            await asyncio.gather(*map(self.cancel, ended))
        except BrowseError as failure:
            error = self._error(failure, run, entry)
        except Exception:  # noqa: BLE001 - a caller gets an outcome, whatever fails
            _log.exception("call failed unexpectedly", action=call.body.get("action"))
            error = unexpected("The service failed at this call.").body()
        finally:
            self.running.pop(call.call_id, None)
            if entry is not None and run is not None:
                self._follow_up(entry, run, taken=entry.lease is not lease)
        if entry is not None and run is not None and is_shut_out(entry.record, run):
            return Outcome(call_id=call.call_id, error=shut_out_error(entry.record, run).body())
        outcome = Outcome(call_id=call.call_id, result=result, error=error)
        if entry is not None and (result is not None or not entry.record.life.over):
            outcome.page = entry.record.state()
        if run is not None:
            outcome.url_before, outcome.requests, outcome.undo = run.url_before, run.requests, run.undo
            outcome.waited_ms, outcome.read_at = run.waited_ms, sorted(run.read_at)
        return outcome

    def _error(self, failure: BrowseError, run: CallRun | None, entry: PageEntry | None) -> ErrorBody:
        """Add to a failure what was done before it, and how the page died."""
        if run is not None and isinstance(failure, PageOwned) and not run.part_results:
            run.admitted = False  # it had only asked whether it may have the page
        described = with_account(run.action, run.part_results, run.part_index, failure) if run is not None else failure
        described.__traceback__ = failure.__traceback__
        if run is not None and entry is not None:
            described = told_of_stop(entry.record, run, described)
        add_crash_context(described, entry.record if entry is not None else None, self.memory)
        actions = [run.action, *run.action.parts()] if run is not None else []
        urls = [url for each in actions if (url := each.requested_url)]
        urls += [entry.record.url] if entry is not None else []
        abridged = abridged_in(described.body().model_dump(), urls)
        return ErrorBody.model_validate(sendable(cast("Json", abridged)))  # an object stays one

    async def _perform(self, entry: PageEntry, run: CallRun) -> Json:
        call, action = run.call, run.action
        run.check_not_cancelled()
        answer_dialog = partial(self.dialogs.answer, entry.record, call)
        page = entry.for_call(run, self.artifacts, partial(self._steps.do, run), answer_dialog, self.act_rules)
        self.admission.admit(page, run)
        handler = self._handler(run)
        if (action.lane is Lane.BESIDE and call.undo is None) or self.dialogs.open_beside(entry.record):
            if action.wakes_page and not page.current.live:
                await self._bring_up_in_turn(page, run)
            run.admitted = True
            with page.screencast.showing(run) as shown, entry.thumbnails.of(run, shown, self.artifacts):
                return await confined(page, call, action, perform(page, run, handler))
        async with run.turn(page.queue, self.queue_wait_ms) as waited:
            run.check_not_cancelled()
            self.admission.admit(page, run)
            if waited:  # others know by the reply that it runs, mostly sooner
                self.log.emit(CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.RUNNING))
            run.admitted = True
            with page.screencast.showing(run) as shown, entry.thumbnails.of(run, shown, self.artifacts):
                return await confined(page, call, action, perform_live(page, run, handler))

    async def _on_session(self, run: CallRun, action: Action) -> Json:
        """Do an action on a whole session. These queue among themselves, and no page's turn waits for them."""
        session = self.sessions.get(run.call.session_id or "")
        if session is None:
            raise SessionNotFound(f"There is no session {run.call.session_id!r}.")
        self.admission.admit_to_session(run)
        check_session_act(self.act_rules, run.call, action)
        await check_guard(run.call, action)
        seen, handler = BrowserSession(session, run.call, self.artifacts, run.undoable), self._handler(run)

        def blocking() -> list[str]:
            busy = (page for page in self._pages_of(session) if page.queue.busy or page.life is Life.SUSPECT)
            return [page.record.named_to(run.call.client_id) for page in busy]

        session.used_at = time.monotonic()
        if action.lane is Lane.BESIDE:
            return await perform_on_session(seen, run, handler, blocking)
        async with run.turn(session.queue, self.queue_wait_ms):
            run.check_not_cancelled()
            self.admission.admit_to_session(run)
            with self.spare_windows.kept_from(session, action):
                result = await perform_on_session(seen, run, handler, blocking)
            for entry in self._pages_of(session):
                entry.check_trace()  # it may have just begun
            return result

    def _handler(self, run: CallRun) -> Handler:
        """Return what does the act, or takes it back."""
        undo = run.call.undo
        if undo is None:
            return self.handlers[run.action.name()]
        take_back = REVERSALS[run.action.name()]
        return lambda on, _: take_back(on, undo)

    def _pages_of(self, session: SessionEntry) -> list[PageEntry]:
        return [entry for entry in self.pages.values() if entry.session is session]

    async def _bring_up_in_turn(self, page: BrowserPage, run: CallRun) -> None:
        """Open, in a turn, a page on which a call is going to wait beside the turns."""
        async with run.turn(page.queue, self.queue_wait_ms):
            await bring_up(page, run)

    def _follow_up(self, entry: PageEntry, run: CallRun, *, taken: bool) -> None:
        """Follow up on what the call did to the page. A holder is idle from the end of its last call on. A call that
        was refused has used nothing, though it may have `taken` the page before."""
        call = run.call
        if run.admitted:
            entry.record.mark_used()
            entry.session.used_at = entry.record.used_at
        if entry.lease is not None and entry.lease.client_id == call.client_id and run.action.needs_open_page:
            entry.lease.renew(call.seq)
        new = entry.record.revision == 0 or call.undo is not None
        never_opened = entry.tab is None and new and not entry.record.life.over and not entry.queue.busy
        if entry.record.life.over or never_opened:
            self.registry.forget(entry.record)
            return
        if run.admitted or taken:
            self.log.emit(entry.record.changed())
        if run.admitted:
            entry.session.logins.save_soon()
            self.spare_windows.prepare(entry.session)
        if run.action.answers_dialog:  # after which scripts of the page go on
            entry.titles.read_soon()


def _reply_key(call: Call) -> str:
    """Name the run of a call: when a person has confirmed it, it runs once more. Several
    rules may ask for one call."""
    return f"{call.call_id}~confirmed{len(call.confirmed)}" if call.confirmed else call.call_id
