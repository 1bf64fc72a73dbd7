"""The short stages of a call in the front half; `dispatch.py` has all of them in their order."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Batching, Effect, Scope, Unaddressed, may_answer
from browse_together.contract.background import Background
from browse_together.contract.calls import Notice, Outcome
from browse_together.contract.errors import (
    BrowseError,
    ErrorBody,
    Forbidden,
    HostGone,
    JournalFailed,
    UnknownOutcome,
    field_details,
)
from browse_together.contract.events import CallEnded
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.clients.presence import Clients
from browser_service.host.seam import CallKey
from browser_service.observability.activity import Activity
from browser_service.observability.logging import unexpected
from browser_service.observability.metrics import Metrics
from browser_service.sessions.directory import Directory
from browser_service.sessions.records import Sessions
from browser_service.spine.addressing import Addressing
from browser_service.spine.call import FrontCall, Go, Perform, Stage
from browser_service.spine.host_calls import HostCalls
from browser_service.spine.host_events import HostEvents
from browser_service.spine.launched import closing_call
from browser_service.spine.policy import Policy
from browser_service.spine.register import CallRegister

if TYPE_CHECKING:
    from browse_together.client.tracing import Tracing


_LONGEST_CALL_S = 86_400

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Ledger(Stage):
    register: CallRegister
    activity: Activity
    metrics: Metrics

    def refused(self, call: FrontCall, action: Action, error: ErrorBody) -> None:
        """Record a call that was refused before it began."""
        self.activity.note(call.caller, action, Outcome(call_id=call.call_id, error=error), call.call_id, 0)

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        """Record the end of a call. If a batch's steps are calls, each has been recorded itself."""
        began = time.monotonic()
        outcome, action = await go(call), call.action
        seconds, ended = time.monotonic() - began, outcome.error.code if outcome.error else "ok"
        self.metrics.count_call(action.name(), ended, seconds, outcome.waited_ms)
        if action.batching is not Batching.SEPARATE_CALLS:
            self.activity.note(call.caller, action, outcome, call.call_id, seconds, via=call.via)
        log.info(
            "call",
            action=action.name(),
            client=call.caller.label,
            page=outcome.page.page_id if outcome.page else None,
            outcome=ended,
            ms=round(seconds * 1000),
        )
        return outcome

    def ended_late(self, event: CallEnded) -> None:
        """Store the outcome of a call that a dialog had suspended, for get_call."""
        key = CallKey.parse(event.outcome.call_id)
        record = self.register.find(key.client_id, key.call_id)
        if record.done:
            return
        self.register.note_last(record, event.outcome)


@dataclass(eq=False)
class Traced(Stage):
    """The span of each call, from its admission to its outcome."""

    tracing: "Tracing | None"

    def concerns(self, kind: type[Action]) -> bool:  # noqa: ARG002 - spans are of all calls, or of none
        return self.tracing is not None

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        if self.tracing is None:
            return await go(call)
        with self.tracing.service_span(call.action.name(), call.call_id, call.parent_span) as span:
            outcome = await go(call)
            page, code = outcome.page, outcome.error.code if outcome.error else None
            self.tracing.note_end(span, code, page.page_id if page else None, page.session_id if page else None)
        return outcome

    def refused(self, call: FrontCall, action: Action, error: ErrorBody) -> None:
        """Record a call that was refused before it began."""
        if self.tracing is not None:
            with self.tracing.service_span(action.name(), call.call_id, call.parent_span) as span:
                self.tracing.note_end(span, error.code, None, None)


@dataclass(eq=False)
class WithoutPrivate(Stage):
    """The outcome as its caller may see it: without a page that is private to another client, and without the URLs and
    requests of a page into which the caller may not look."""

    policy: Policy

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome, caller = await go(call), call.caller
        if outcome.page is None:
            return outcome
        is_private = outcome.page.private_from(call.client_id) and not caller.operator
        page = None if is_private else self.policy.seen_by(caller, outcome.page)
        if page is outcome.page:
            return outcome
        return outcome.model_copy(update={"page": page, "url_before": None, "requests": [], "targets": {}, "came": []})


@dataclass(eq=False)
class Counted(Stage):
    """The count of the calls that used a session."""

    sessions: Sessions

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome = await go(call)
        named_id = call.action.addressed.session if call.action.scope is Scope.SESSION else None
        session_id = outcome.page.session_id if outcome.page else named_id
        self.sessions.count_call(session_id, failed=outcome.error is not None)
        return outcome


@dataclass(eq=False)
class SavedLogins(Stage):
    """The check that the logins which a call saved are on disk, and that no other client had saved some under that
    name. Else the call has failed."""

    asks = ("stored_logins",)
    events: HostEvents

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome, stored = await go(call), call.action.stored_logins
        if stored is None or stored.restores or outcome.error is not None:
            return outcome
        session_id, name = call.action.addressed.session or "", stored.name
        error: BrowseError | None = None
        if self.events.owes_logins(session_id, name):
            error = JournalFailed(
                f"The logins of {session_id!r} could not be saved because nothing can be written to the disk."
            )
        elif await self.events.journal.saved_by(session_id, name) not in {"", call.client_id}:
            error = Forbidden(
                f"Another client has saved logins of {session_id!r} as {name!r}, which stay as they are. Nothing was "
                "saved.",
                hint=f"Take another name: {next_call('save_session_state', session_id=session_id, name='...')}.",
                details=field_details("name"),
            )
        return outcome if error is None else Outcome(call_id=call.call_id, error=error.body())


@dataclass(eq=False)
class ToItsEnd(Stage):
    """The outcome of a call, whatever fails. The call stops when its caller's token ends, which no event
    announces."""

    host_calls: HostCalls
    _stopping: Background = field(default_factory=Background)

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        expires_at = call.caller.expires_at
        left_s = None if expires_at is None else expires_at - time.time()
        soon = left_s is not None and left_s < _LONGEST_CALL_S
        ending = asyncio.get_running_loop().call_later(left_s or 0, self._stop, call) if soon else None
        try:
            outcome = await go(call)
        except HostGone as gone:
            outcome = Outcome(call_id=call.call_id, error=_without_host(call.action, gone).body())
        except BrowseError as error:
            outcome = Outcome(call_id=call.call_id, error=error.body())
        except Exception:
            log.exception("call failed unexpectedly", action=call.action.name())
            outcome = Outcome(call_id=call.call_id, error=unexpected("The service failed at this call.").body())
        finally:
            if ending is not None:
                ending.cancel()
        return outcome

    def _stop(self, call: FrontCall) -> None:
        self._stopping.spawn(self.host_calls.stop(call.record))


def _without_host(action: Action, gone: HostGone) -> BrowseError:
    """Return the error of a call whose host is gone: what may have acted has an unknown outcome."""
    if not gone.sent or action.effect is Effect.READS:
        return gone
    return UnknownOutcome(f"{action.name()} was under way when its host stopped answering.")


@dataclass(eq=False)
class InNewSession(Stage):
    """The new session that a call asks for. It is closed again if no page opened in it."""

    perform: Perform

    def concerns(self, kind: type[Action]) -> bool:
        return kind.scope is Scope.PAGE and may_answer(kind, "makes_session")

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        if not call.action.makes_session:
            return await go(call)
        session = await self.perform(call.caller, {"action": "create_session"}, f"{call.call_id}.1")
        session_id = str(session["sessionId"])
        outcome = None
        try:
            outcome = await go(call.with_action(call.action.model_copy(update={"session_id": session_id})))
        finally:
            if outcome is None or outcome.page is None:
                await self.perform(call.caller, closing_call(session_id), f"{call.call_id}.2")
        if outcome.result is not None:
            description = f"in {session_id}, a new session, which is not logged in anywhere: name it by sessionId"
            outcome.result["observed"] = f"{outcome.result.get('observed', 'done')}; {description}"
        return outcome


@dataclass(eq=False)
class Addressed(Stage):
    """The page or session that a call means, and the caller's right to it."""

    addressing: Addressing
    policy: Policy

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        call.address = self.addressing.address(call.action, call.caller)
        self.policy.check_place(call.caller, call.action, call.address)
        call.record.page_id = call.address.page_id or ""
        return await go(call)


@dataclass(eq=False)
class EndedWithPage(Stage):
    """The end of a session that was made for a page, once its last page is closed."""

    asks = ("closes", "part_fields")
    directory: Directory
    perform: Perform

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome = await go(call)
        closings = (part.closes for part in call.action.every_part())
        if outcome.result is not None and any(each and each.scope is Scope.PAGE for each in closings):
            await self._close(call, call.address.session_id or "", outcome.result)
        return outcome

    async def _close(self, call: FrontCall, session_id: str, result: Json) -> None:
        sessions = self.directory.sessions
        if sessions.owner(session_id) != call.client_id or not sessions.record(session_id).of_page:
            return
        if not self.directory.pages_of(session_id):
            ended = await self.perform(call.caller, closing_call(session_id), f"{call.call_id}.1")
            result["observed"] = f"{result.get('observed', 'done')}; made for it alone, {ended['observed']}"


@dataclass(eq=False)
class AnotherPage(Stage):
    """The notice that a call opened another page than the one that it named, which was open already."""

    clients: Clients

    def concerns(self, kind: type[Action]) -> bool:
        return kind.unaddressed is Unaddressed.ANOTHER_PAGE

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        outcome, named = await go(call), call.action.addressed.page
        if named and outcome.page is not None and outcome.page.page_id != named:
            text = f"{named} is open already, and yours: this is another page, {outcome.page.page_id}."
            self.clients.notify(call.client_id, Notice(text=text, page_id=outcome.page.page_id))
        return outcome
