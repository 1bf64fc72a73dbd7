"""The way of every call through the front half, from whichever door, from top to bottom and without Playwright."""

import asyncio
import time
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

import structlog

from browse_together.contract import catalogue
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Scope, Unaddressed, may_answer
from browse_together.contract.background import Background
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import BrowseError, HostGone, RateLimited, UnknownOutcome
from browse_together.contract.events import CallFollowed
from browse_together.contract.limits import UNLIMITED
from browse_together.contract.model import Json
from browse_together.contract.wire import REPLY_WITHIN_MS
from browser_service.observability.logging import unexpected
from browser_service.security.auth import Identity
from browser_service.spine.batch import SeparateSteps
from browser_service.spine.call import Around, FrontCall, Go, within
from browser_service.spine.confirmation import Confirmations
from browser_service.spine.envelope import failed, reply_of, still_running
from browser_service.spine.login_uses import LoginUses
from browser_service.spine.own_sessions import OwnSessions
from browser_service.spine.page_names import PageNames
from browser_service.spine.parts import FrontParts
from browser_service.spine.ports import Handlers, ServiceContext
from browser_service.spine.register import KEPT_S, Record, Reply
from browser_service.spine.session_logins import SessionLogins
from browser_service.spine.vaults import Vaults

_HEARTBEAT_S: Final = 2.0
_FINISHES_WITHIN_S: Final = 1.0
_LONGEST_CALL_S: Final = 86_400

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Dispatcher:
    """The front half. What concerns every call is a line of `_reply`, `_outcome`, `_addressed`, `_allowed` or
    `to_host`, where it happens; what concerns the calls of some actions alone surrounds these."""

    parts: FrontParts
    handlers: Handlers
    reply_within_ms: int = REPLY_WITHIN_MS

    def __post_init__(self) -> None:
        parts = self.parts
        self._names = PageNames(parts.directory, parts.clients, parts.quotas, parts.policy)
        self._confirmations = Confirmations(self.perform, parts.guard)
        self._stopping = Background()
        kinds = catalogue.ACTIONS.values()
        self._ways: dict[type[Action], Go] = {kind: within(self._around(kind), self._addressed) for kind in kinds}
        self._ways_there: dict[type[Action], Go] = {kind: self._way_there(kind) for kind in kinds}

    # --- the doors ---------------------------------------------------------------------------------------------------

    async def run(self, call: FrontCall) -> Reply:
        """Return the reply to a call; after 50 s, the reply that it is still running. A caller's mistake raises
        nothing."""
        begun = self._begin(call)
        reply = begun if isinstance(begun, Reply) else await self._wait_and_hear(begun)
        words = await self.parts.talk.threads.take(call.client_id, call.call_id)
        notices = [*words, *self.parts.clients.take_notices(call.client_id)]
        if notices:
            self.parts.guard.note_pages(call.caller, [notice.page_id for notice in notices])
        fields = [notice.model_dump(mode="json", exclude_none=True) for notice in notices]
        return replace(reply, body={**reply.body, "notices": fields})

    async def perform(self, caller: Identity, body: Json, call_id: str) -> Json:
        """Run an action that another one consists of, and return its result. Raises its error."""
        return (await self.step(caller, body, call_id)).result_of_part()

    async def step(self, caller: Identity, body: Json, call_id: str, via: str = "") -> Reply:
        """Run an action that another one consists of, and return its reply. `via` names the step, for the record."""
        caller = self.parts.policy.for_steps(caller)
        part = FrontCall(caller, body, call_id=call_id, request_id=call_id, via=via, let_through=not via)
        return await self._handle(part)

    def follow(self, caller: Identity, call_id: str) -> tuple[Reply, CallFollowed]:
        """Return the reply to a call of the caller's as far as there is one, and how far the call is. News for the
        client stay for its next call. Raises CallNotFound."""
        record = self.parts.ledger.register.find(caller.client_id, call_id)
        action = catalogue.ACTIONS[record.action]
        record.is_task = action.lasts and not action.claim  # else a page would go to one who is not there
        reply = record.reply if record.task.done() else still_running(record)
        moved = self.parts.clients.progress(caller.client_id, call_id, record.elapsed_ms)
        return replace(reply, body={**reply.body, "notices": []}), CallFollowed(
            call_id=call_id,
            action=record.action,
            began_at=time.time() - (time.monotonic() - record.began_at),
            elapsed_ms=record.elapsed_ms,
            has_replied=record.task.done(),
            kept_ms=KEPT_S * 1000,
            progress=record.paused or moved.progress,
            request=moved.request,
            people_url=moved.people_url,
        )

    async def finish(self) -> None:
        """Before the service ends, give running calls a moment to be recorded."""
        if running := {record.task for record in self.parts.ledger.register.running()}:
            await asyncio.wait(running, timeout=_FINISHES_WITHIN_S)

    # --- admission ---------------------------------------------------------------------------------------------------

    async def _handle(self, call: FrontCall) -> Reply:
        begun = self._begin(call)
        return begun if isinstance(begun, Reply) else await self._wait(begun)

    def _begin(self, call: FrontCall) -> Record | Reply:
        """Begin a call and return its record, or return its refusal."""
        caller, policy = call.caller, self.parts.policy
        self.parts.clients.remember(caller.client_id, caller.label)
        try:
            call.body = catalogue.unwrap(call.body)
            body = call.full_body()
            body = policy.placed(caller, body) if caller.limits.session else body
            parsed = catalogue.parse(self.parts.addressing.placed(caller, body) if caller.session else body)
            call.action = action = self.parts.addressing.for_whole_session(parsed)
        except BrowseError as error:
            return failed(error.body(call.request_id))
        try:
            policy.check(caller, action)
            if caller.limits is not UNLIMITED:
                call.action = policy.narrowed(caller, action)
            return self._register(call)
        except RateLimited as error:  # unrecorded, because floods of calls would push others' records out
            return failed(error.body(call.request_id))
        except BrowseError as error:
            refusal = error.body(call.request_id)
            self.parts.ledger.refused(call, action, refusal)
            return failed(refusal)

    def _register(self, call: FrontCall) -> Record:
        """Begin the call, or join the one with its id. Only a new call counts against the quotas."""
        client_id, call_id, quotas = call.client_id, call.call_id, self.parts.quotas

        def admit() -> Awaitable[Reply]:
            if call.counted:
                quotas.admit(client_id, call.action)
            return self._reply(call)

        record = call.record = self.parts.ledger.register.begin(client_id, call_id, call.attempt, call.action, admit)
        record.token_id, record.by_person = call.caller.token_id, call.caller.of_person
        if call.counted and not record.task.done() and quotas.begin(client_id, call_id, call.action):
            record.task.add_done_callback(lambda _: quotas.end(client_id, call_id))
        return record

    async def _wait_and_hear(self, record: Record) -> Reply:
        """Wait for the reply. A person's words end the wait, if the call waits too: its notices have them."""
        hears = catalogue.ACTIONS[record.action].hears_person
        with self.parts.clients.hearing(record.client_id, lambda: hears or bool(record.paused)) as heard:
            return await self._wait(record, heard)

    async def _wait(self, record: Record, *heard: "asyncio.Future[None]") -> Reply:
        """Wait for the reply, or until something is `heard`. The call goes on if the caller leaves."""
        remaining_s = self.reply_within_ms / 1000
        while remaining_s > 0:
            await record.until_replied(min(_HEARTBEAT_S, remaining_s), *heard)
            if record.task.done():
                return record.reply
            if any(each.done() for each in heard):
                break
            remaining_s -= _HEARTBEAT_S
            self.parts.clients.repeat_progress(record.client_id, record.call_id, record.elapsed_ms)
        return still_running(record)

    # --- the way -----------------------------------------------------------------------------------------------------

    async def _reply(self, call: FrontCall) -> Reply:
        """Take a call to its outcome, record it, and make the reply that its caller may have."""
        structlog.contextvars.bind_contextvars(call_id=call.call_id)  # for all log lines of this task
        parts, began = self.parts, time.monotonic()
        with parts.ledger.span(call) as span:
            outcome = await self._outcome(call)
            session_id = call.action.addressed.session if call.action.scope is Scope.SESSION else None
            session_id = outcome.page.session_id if outcome.page else session_id
            parts.directory.sessions.count_call(session_id, failed=outcome.error is not None)
            outcome = parts.policy.shown(call.caller, outcome)
            parts.ledger.ended(call, outcome, began, span)
        parts.clients.forget_progress(call.client_id, call.call_id)
        return reply_of(call, outcome)

    async def _outcome(self, call: FrontCall) -> Outcome:
        """Return the outcome of a call, whatever fails. The call stops when its caller's token ends, which no event
        announces."""
        ending = self._stop_with_token(call) if call.caller.expires_at is not None else None
        try:
            if self.parts.talk.halted.halts.any:
                await self.parts.talk.let_go_on(call)
            return await self._ways[type(call.action)](call)
        except HostGone as gone:
            error = _without_host(call.action, gone).body()
        except BrowseError as refusal:
            error = refusal.body()
        except Exception:
            log.exception("call failed unexpectedly", action=call.action.name())
            error = unexpected("The service failed at this call.").body()
        finally:
            if ending is not None:
                ending.cancel()
        return Outcome(call_id=call.call_id, error=error)

    async def _addressed(self, call: FrontCall) -> Outcome:
        """Run a call where it belongs, if its caller may do it there."""
        call.address = self.parts.addressing.address(call.action, call.caller)
        self.parts.policy.check_place(call.caller, call.action, call.address)
        call.record.page_id = call.address.page_id or ""
        return await self._ways_there[type(call.action)](call)

    async def _in_service(self, call: FrontCall) -> Outcome:
        """Run a call that touches no browser."""
        self.parts.guard.check_service(call)
        context = ServiceContext(self.parts, call, self.step, self.to_host)
        result = await self.handlers[call.action.name()](context, call.action)
        outcome = Outcome(call_id=call.call_id, result=result)
        self.parts.guard.note_listed(call, outcome)
        return outcome

    async def _allowed(self, call: FrontCall) -> Outcome:
        """Run a call on its host. A person is asked about it where the owner has rules, or a session is guarded."""
        if self.parts.owner_asks or self.parts.directory.sessions.any_guarded:
            return await self._confirmations.confirmed(call, self._guarded)
        return await self.to_host(call)

    async def _guarded(self, call: FrontCall) -> Outcome:
        chat = self.parts.guard.chat_of(call)
        outcome = await self.to_host(call)
        if chat is not None:
            self.parts.guard.note_read(call, chat, outcome)
        return outcome

    async def to_host(self, call: FrontCall) -> Outcome:
        """Run a call on its host, while the names of pages that it needs are reserved for it."""
        with ExitStack() as names:
            for page_id, client_id in self._names.needed(call):
                names.enter_context(self.parts.directory.reserve(page_id, client_id))
            return await self.parts.host_calls.run(call)

    # --- what surrounds the calls of some actions --------------------------------------------------------------------

    def _around(self, kind: type[Action]) -> Iterator[Around]:
        """Yield what surrounds an action's calls before it is known where they go, the outermost first."""
        parts = self.parts
        if kind.scope is Scope.PAGE and may_answer(kind, "makes_session"):
            yield OwnSessions(parts.directory, self.perform).made
        if kind.batching:
            yield SeparateSteps(parts.addressing, parts.directory, self._begin, parts.host_calls.cancel).apart
        if may_answer(kind, "stored_logins"):
            yield SessionLogins(parts.lifecycle, parts.feeds.events).restored

    def _around_there(self, kind: type[Action]) -> Iterator[Around]:
        """Yield what surrounds an action's calls on their page or session, the outermost first."""
        parts, logins = self.parts, SessionLogins(self.parts.lifecycle, self.parts.feeds.events)
        if may_answer(kind, "ends_logins", "part_fields"):
            yield logins.taken
        if may_answer(kind, "stored_logins"):
            yield logins.saved
        if kind.lists_logins:
            yield LoginUses(parts.ledger.activity).told
        if may_answer(kind, "closes", "part_fields"):
            yield OwnSessions(parts.directory, self.perform).ended
        if kind.unaddressed is Unaddressed.ANOTHER_PAGE:
            yield self._names.another
        if kind.part_fields or kind.secret_fields():
            yield Vaults(self.perform).unlocked

    def _way_there(self, kind: type[Action]) -> Go:
        return self._in_service if kind.scope is Scope.SERVICE else within(self._around_there(kind), self._allowed)

    # --- the end of a token ------------------------------------------------------------------------------------------

    def _stop_with_token(self, call: FrontCall) -> asyncio.TimerHandle | None:
        left_s = (call.caller.expires_at or 0) - time.time()
        if left_s >= _LONGEST_CALL_S:
            return None
        return asyncio.get_running_loop().call_later(left_s, self._stop, call)

    def _stop(self, call: FrontCall) -> None:
        self._stopping.spawn(self.parts.host_calls.stop(call.record))


def _without_host(action: Action, gone: HostGone) -> BrowseError:
    """Return the error of a call whose host is gone: what may have acted has an unknown outcome."""
    if not gone.sent or action.effect is Effect.READS:
        return gone
    return UnknownOutcome(f"{action.name()} was under way when its host stopped answering.")
