"""The way of a call through the host, from top to bottom: receive, place, admit, act, observe, reply."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

import structlog

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Lane, Scope
from browse_together.contract.calls import Call, CallState, Outcome
from browse_together.contract.errors import BrowseError, BrowserCrashed, ErrorBody, PageOwned, SessionNotFound
from browse_together.contract.events import CallEnded, CallMoved
from browse_together.contract.model import Json
from browser_service.host.calls import CallRun, Handler, Reply, RunningCalls
from browser_service.host.events import EventLog, sendable
from browser_service.host.files import Files
from browser_service.host.handle.page import BrowserPage
from browser_service.host.handle.session import BrowserSession, perform_on_session
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.pages.entry import PageEntry, pages_of
from browser_service.host.pages.privacy import calls_ended_by, is_shut_out, shut_out_error, told_of_stop
from browser_service.host.pages.registry import PageRegistry
from browser_service.host.reading.cursors import read_kept
from browser_service.host.record.life import Life
from browser_service.host.record.record import PageRecord
from browser_service.host.seam import ArtifactPort, CallKey, HostLimits, action_of
from browser_service.host.sessions.memory import Memory
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.sessions.spare_windows import SpareWindows
from browser_service.host.stages.act import Act
from browser_service.host.stages.admission import Admission
from browser_service.host.stages.around import bring_up
from browser_service.host.stages.confinement import confined
from browser_service.host.stages.ends import add_crash_context
from browser_service.host.stages.guard import check_guard
from browser_service.host.stages.openings import Openings
from browser_service.host.stages.order import perform
from browser_service.host.stages.parts import place_of_part, wait_for_dialog
from browser_service.host.stages.rules import check_session_act
from browser_service.observability.logging import unexpected
from browser_service.rules.partial import with_account
from browser_service.security.urls import abridged_in

_log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Pipeline:
    """The way of calls on the pages and sessions of a host."""

    pages: Mapping[str, PageEntry]
    sessions: Mapping[str, SessionEntry]
    calls: RunningCalls
    handlers: Mapping[str, Handler]
    artifacts: ArtifactPort
    openings: Openings
    admission: Admission
    dialogs: Dialogs
    registry: PageRegistry
    memory: Memory
    log: EventLog
    limits: HostLimits
    spare_windows: SpareWindows

    # --- receive -----------------------------------------------------------------------------------------------------

    async def run(self, call: Call) -> Outcome:
        """Return the outcome of a call; if it came before under the same id, join that run."""
        outcome = await asyncio.shield(self.calls.reply_to(call, self.complete))
        outcome.as_of = self.log.as_of
        return outcome

    async def complete(self, call: Call, reply: Reply) -> None:
        """Bring a call to its end. If a dialog made it reply before, report the end as an event."""
        structlog.contextvars.bind_contextvars(call_id=CallKey.parse(call.call_id).call_id)  # for this task alone
        try:
            run = CallRun(call, action_of(call), reply)
        except BrowseError as error:  # its front half is of another version
            reply.set_result(Outcome(call_id=call.call_id, error=error.body()))
            return
        outcome = await self._outcome(run)
        run.outcome.set_result(outcome)
        if not reply.done():
            reply.set_result(outcome)
        elif reply.result().suspended:
            self.log.emit(CallEnded(client_id=call.client_id, outcome=outcome))

    async def cancel(self, call_id: str) -> None:
        """Stop a call, even one that has not arrived yet."""
        if (run := self.calls.cancel(call_id)) is None:
            return
        self.dialogs.dismiss_for(run)
        if (entry := self.pages.get(run.call.page_id or "")) is not None:
            entry.queue.cancel(call_id)

    async def wait_until_idle(self, within_s: float) -> None:
        """Wait for the running calls to end; cancel those that take longer than `within_s`."""
        ending = {run.outcome: run for run in self.calls.values() if not run.action.asks_person}
        if ending:
            _, late = await asyncio.wait(ending, timeout=within_s)
            for outcome in late:
                await self.cancel(ending[outcome].call.call_id)
            if late:
                await asyncio.wait(late, timeout=within_s)

    async def _outcome(self, run: CallRun) -> Outcome:
        """Run a call and return its outcome, whatever fails."""
        result, error = None, None
        self.calls.begin(run)
        try:
            if run.action.needs_no_page:
                result = sendable(await read_kept(Files(self.artifacts, run.call), run.action))
            elif run.action.scope is Scope.SESSION:
                result = sendable(await self._on_session(run, run.action))
            else:
                result = sendable(await self._on_page(run))
        except BrowseError as failure:
            error = self._error(failure, run)
        except Exception:  # noqa: BLE001 - a caller gets an outcome, whatever fails
            _log.exception("call failed unexpectedly", action=run.action.name())
            error = unexpected("The service failed at this call.").body()
        finally:
            self.calls.end(run)
        return self._reply(run, result, error)

    # --- place, and admit --------------------------------------------------------------------------------------------

    async def _on_page(self, run: CallRun) -> Json:
        entry = self.pages.get(run.call.page_id or "") or await self.openings.page_for(run)
        record = run.page = entry.record
        lease = record.lease
        try:
            result = await self._in_turn(entry, run)
            if run.action.claim:
                for each in calls_ended_by(run, record, self.calls.on_page(record.page_id)):
                    await self.cancel(each.call.call_id)
            return result
        finally:
            self.calls.end(run)
            self._follow_up(entry, run, taken=record.lease is not lease)

    async def _in_turn(self, entry: PageEntry, run: CallRun) -> Json:
        """Admit a call, and run it in its turn. If it had to wait, admit it again: much may have happened meanwhile."""
        call, action, queue = run.call, run.action, entry.queue
        run.check_not_cancelled()
        self.admission.admit(entry.record, run)
        page = BrowserPage(entry, run, partial(self._part, run))
        if action.lane is Lane.BESIDE or self.dialogs.open_beside(entry.record):
            if action.wakes_page and not page.record.live:
                async with run.turn(queue, self.limits.queue_wait_ms):
                    await bring_up(page, run)
            run.admitted = True
            return await self._act(page, run)
        async with run.turn(queue, self.limits.queue_wait_ms) as waited:
            if waited:  # for the others, the reply shows that they run
                run.check_not_cancelled()
                self.admission.admit(entry.record, run)
                self.log.emit(CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.RUNNING))
            run.admitted = run.has_turn = True
            return await self._act(page, run)

    # --- act, and observe --------------------------------------------------------------------------------------------

    async def _act(self, page: BrowserPage, run: CallRun) -> Json:
        """Run a call, or a part of one. A client whose token is for some origins learns nothing of others."""
        work = (
            self._read_again(page, run)
            if _only_reads(run)
            else perform(Act(page, run, self.handlers[run.action.name()]))
        )
        return await (confined(page.record, run.call, run.action, work) if run.call.origins else work)

    async def _read_again(self, page: BrowserPage, run: CallRun) -> Json:
        """Run a call that only reads, and run it once more if the page died under it."""
        handler = self.handlers[run.action.name()]
        try:
            return await perform(Act(page, run, handler))
        except BrowserCrashed:
            if run.url_before is None:  # it could not even be brought up, which was tried a few times
                raise
            return await perform(Act(page, run, handler))

    async def _part(self, run: CallRun, page: BrowserPage, part: Action) -> Json:
        """Run one part of a call, in the call's turn, as if it came by itself."""
        await wait_for_dialog(run)
        step, result = run.for_part(part), Json(action=part.name())
        run.part_index = len(run.part_results)
        page = page.for_part(step, partial(self._part, step), **place_of_part(run, run.part_index))
        try:
            self.admission.admit(page.record, step)
            if page.queue.current is not None:
                page.queue.current.part = part.name()
            if part.needs_no_page:
                result |= await read_kept(page.files, part)
            else:
                result |= await self._act(page, step)
        finally:
            run.requests += step.requests
        run.part_results.append(result)
        run.part_index = None
        return result

    async def _on_session(self, run: CallRun, action: Action) -> Json:
        """Run an action on a whole session. Such actions queue among themselves, and no page's turn waits for them."""
        session = self.sessions.get(run.call.session_id or "")
        if session is None:
            raise SessionNotFound(f"There is no session {run.call.session_id!r}.")
        private = session.keeps_tabs_private
        self.admission.admit_to_session(run, keeps_tabs_private=private)
        check_session_act(self.limits.act_rules, run.call, action)
        await check_guard(run.call, action)
        seen, handler = (
            BrowserSession(session, run.call, self.artifacts, run.taken_logins.append),
            self.handlers[run.action.name()],
        )

        def blocking() -> list[str]:
            busy = (
                page for page in pages_of(session, self.pages) if page.queue.busy or page.record.life is Life.SUSPECT
            )
            return [page.record.named_to(run.call.client_id) for page in busy]

        session.used_at = time.monotonic()
        if action.lane is Lane.BESIDE:
            return await perform_on_session(seen, run, handler, blocking)
        async with run.turn(session.queue, self.limits.queue_wait_ms) as waited:
            if waited:
                run.check_not_cancelled()
                self.admission.admit_to_session(run, keeps_tabs_private=private)
            async with self.spare_windows.kept_from(session, action):
                result = await perform_on_session(seen, run, handler, blocking)
            for entry in pages_of(session, self.pages):
                entry.check_trace()  # it may have just begun
            return result

    # --- reply -------------------------------------------------------------------------------------------------------

    def _follow_up(self, entry: PageEntry, run: CallRun, *, taken: bool) -> None:
        """Follow up on what the call did to the page. A holder counts as idle from the end of its last call on. A
        refused call has used nothing, though it may have `taken` the page before."""
        call, record = run.call, entry.record
        if run.admitted:
            record.mark_used()
            entry.session.used_at = record.used_at
        if record.lease is not None and record.lease.client_id == call.client_id and run.action.needs_open_page:
            record.lease.renew(call.seq)
        is_vain = record.unopened or (record.awaits_tab and record.person is None)
        if record.life.over or (is_vain and not entry.queue.busy):
            self.registry.forget(record)
            return
        if run.admitted or taken:
            record.tell_changed()
        if run.admitted:
            entry.session.logins.save_soon()
            self.spare_windows.prepare(entry.session)
        if run.action.answers_dialog:  # after which scripts of the page go on
            entry.tab_life.read_title_soon()

    def _reply(self, run: CallRun, result: Json | None, error: ErrorBody | None) -> Outcome:
        outcome, page = Outcome(call_id=run.call.call_id), run.page
        if page is not None and page.private_from(run.call.client_id) and is_shut_out(page, run):
            outcome.error = shut_out_error(page, run).body()
            return outcome
        outcome.result, outcome.error = result, error
        if page is not None and page.awaits_tab:
            page = self._given(result)
        if page is not None and (result is not None or not page.life.over):
            outcome.page = page.state()
        outcome.requests, outcome.taken_logins = run.requests, run.taken_logins
        outcome.waited_ms, outcome.read_at = run.waited_ms, sorted(run.read_at)
        run.tell_repeatably(outcome)
        return outcome

    def _given(self, result: Json | None) -> PageRecord | None:
        """Return the page of the tab that a person shared when they were asked for one; None if they shared none."""
        request = self.registry.people.requests.get(str(result.get("requestId"))) if result is not None else None
        entry = self.pages.get(request.question.page_id) if request is not None else None
        return entry.record if entry is not None and not entry.record.awaits_tab else None

    def _error(self, failure: BrowseError, run: CallRun) -> ErrorBody:
        """Add to a failure what was done before it, and how the page died."""
        if isinstance(failure, PageOwned) and not run.part_results:
            run.admitted = False  # it had only asked whether it may have the page
        described = failure
        if run.part_results or run.part_index is not None:
            described = with_account(run.action, run.part_results, run.part_index, failure)
            described.__traceback__ = failure.__traceback__
        if run.stopped_by and run.page is not None:
            described = told_of_stop(run.page, run, described)
        add_crash_context(described, run.page, self.memory)
        urls = [url for each in (run.action, *run.action.parts()) if (url := each.requested_url)]
        urls += [run.page.url] if run.page is not None else []
        body = described.body()
        body.message, body.hint = str(abridged_in(body.message, urls)), body.hint and str(abridged_in(body.hint, urls))
        body.details = sendable(cast("Json", abridged_in(body.details, urls)))  # an object stays one
        return body


def _only_reads(run: CallRun) -> bool:
    return run.has_turn and not run.is_part and run.action.effect is Effect.READS and not run.action.parts()
