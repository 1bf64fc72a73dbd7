"""Runs every call, from whichever door. This is the front half of THE SPINE, without Playwright."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from functools import partial

import structlog

from browser_service.clients.presence import Clients
from browser_service.observability.logging import unexpected
from browser_service.rules.quotas import Quotas
from browser_service.security.auth import Identity
from browser_service.sessions.directory import Directory
from browser_service.spine.addressing import Addressing
from browser_service.spine.batch import BatchRun
from browser_service.spine.confirmation import Confirmations
from browser_service.spine.cross_origin import CrossOriginGuard
from browser_service.spine.envelope import failed, reply_of, still_running, without_private
from browser_service.spine.feed import Feed
from browser_service.spine.front_call import CallRequest, FrontCall
from browser_service.spine.host_calls import HostCalls, HostTask
from browser_service.spine.ledger import Ledger
from browser_service.spine.policy import Policy
from browser_service.spine.ports import ServiceActions
from browser_service.spine.register import Record, Reply
from browser_service.spine.workflows import Workflows
from shared import catalogue
from shared.actions.base import Action
from shared.actions.traits import Batching, Scope
from shared.calls import Outcome
from shared.errors import BrowseError, RateLimited, Relayed
from shared.model import Json
from shared.wire import REPLY_WITHIN_MS

_HEARTBEAT_S = 2.0
_FINISHES_WITHIN_S = 1.0
_LONGEST_CALL_S = 86_400

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Intake:
    """What a call passes before it begins: clients, addresses, policy and quotas."""

    clients: Clients
    directory: Directory
    addressing: Addressing
    policy: Policy
    quotas: Quotas


@dataclass(eq=False)
class Dispatcher:
    """The pipeline of the front half: parses, checks, registers, runs and records each call, and replies."""

    intake: Intake
    host_calls: HostCalls
    service_actions: ServiceActions
    ledger: Ledger
    feed: Feed
    guard: CrossOriginGuard
    reply_within_ms: int = REPLY_WITHIN_MS

    def __post_init__(self) -> None:
        self._confirmations = Confirmations(self.perform, self.guard)
        self._stopping = set[asyncio.Task[None]]()
        self._workflows = Workflows(self.intake.directory, self.intake.clients, self.feed, self.perform)

    async def run(self, caller: Identity, request: CallRequest) -> Reply:
        """Return the reply to a call; after 50 s, the reply that it is still running. A caller's mistake raises
        nothing."""
        reply = await self._handle(caller, request)
        notices = self.intake.clients.take_notices(caller.client_id)
        self.guard.note_pages(caller, (notice.page_id for notice in notices))
        fields = [notice.model_dump(mode="json", exclude_none=True) for notice in notices]
        return replace(reply, body={**reply.body, "notices": fields})

    async def perform(self, caller: Identity, body: Json, call_id: str) -> Json:
        """Run an action that another one consists of, and return its result. Raises its error."""
        caller = self.intake.policy.for_steps(caller)
        reply = await self._handle(caller, CallRequest(body, call_id=call_id, request_id=call_id))
        try:
            return reply.result()
        except Relayed as error:
            error.details.pop("tool", None)  # the caller called the other action
            raise

    async def finish(self) -> None:
        """Before the service ends, give running calls a moment to be recorded."""
        if running := {record.task for record in self.ledger.register.running()}:
            await asyncio.wait(running, timeout=_FINISHES_WITHIN_S)

    # --- admission ---------------------------------------------------------------------------------------------------

    async def _handle(self, caller: Identity, request: CallRequest) -> Reply:
        begun = self._begin(caller, request)
        return begun if isinstance(begun, Reply) else await self._wait(begun)

    def _begin(self, caller: Identity, request: CallRequest) -> Record | Reply:
        """Begin the call and return its record, or return its refusal."""
        self.intake.clients.remember(caller.client_id, caller.label)
        try:
            request = replace(request, body=catalogue.unwrap(request.body))
            body = self.intake.policy.placed(caller, request.merged())
            action = self.intake.addressing.for_whole_session(catalogue.parse(body))
        except BrowseError as error:
            return failed(error.body(request.request_id))
        try:
            self.intake.policy.check(caller, action)
            return self._register(caller, request, self.intake.policy.narrowed(caller, action))
        except RateLimited as error:  # unrecorded, because floods of calls would push others' records out
            return failed(error.body(request.request_id))
        except BrowseError as error:
            refusal = error.body(request.request_id)
            self.ledger.refused(caller, action, request.call_id or request.request_id, refusal)
            return failed(refusal)

    def _register(self, caller: Identity, request: CallRequest, action: Action) -> Record:
        """Begin the call, or join the one with its id. Only a new call counts against the quotas."""
        call_id, quotas = request.call_id or request.request_id, self.intake.quotas

        def admit() -> Awaitable[Reply]:
            if request.counted:
                quotas.admit(caller.client_id, action)
            return self._reply(caller, request, action, call_id)

        record = self.ledger.register.begin(caller.client_id, call_id, request.attempt, action, admit)
        record.token_id = caller.token_id
        if request.counted and not record.task.done() and quotas.begin(caller.client_id, call_id, action):
            record.task.add_done_callback(lambda _: quotas.end(caller.client_id, call_id))
        return record

    def _begin_part(self, caller: Identity, body: Json, call_id: str, inline_text: int) -> Record | Reply:
        """Begin a step of a batch as its own call, or return its refusal."""
        request = CallRequest(body, call_id=call_id, inline_text=inline_text, request_id=call_id, counted=False)
        return self._begin(caller, request)

    async def _wait(self, record: Record) -> Reply:
        """Wait for the reply. The call goes on if the caller leaves."""
        remaining_s = self.reply_within_ms / 1000
        while remaining_s > 0:
            done, _ = await asyncio.wait({record.task}, timeout=min(_HEARTBEAT_S, remaining_s))
            if done:
                return record.reply
            remaining_s -= _HEARTBEAT_S
            self.intake.clients.repeat_progress(record.client_id, record.call_id, record.elapsed_ms)
        return still_running(record)

    # --- run, recording and reply ------------------------------------------------------------------------------------

    async def _reply(self, caller: Identity, request: CallRequest, action: Action, call_id: str) -> Reply:
        """Run the call, record its outcome, and return the reply."""
        structlog.contextvars.bind_contextvars(call_id=call_id)  # for all log lines of this task
        began = asyncio.get_running_loop().time()
        call = FrontCall(caller, request, action, self.ledger.register.find(caller.client_id, call_id))
        outcome = await self._run_to_end(call)
        await self.feed.catch_up()
        outcome = await self._workflows.check_saved(call, outcome)
        self._note_use(call, outcome)
        outcome = self.ledger.undos.keep(caller, call_id, action.name(), outcome)
        outcome = without_private(outcome, caller, lambda page: self.intake.policy.seen_by(caller, page))
        self.intake.clients.forget_progress(caller.client_id, call_id)
        reply = reply_of(call, outcome)
        self.ledger.ended(call, outcome, asyncio.get_running_loop().time() - began)
        return reply

    async def _run_to_end(self, call: FrontCall) -> Outcome:
        """Run the call, and return its outcome whatever fails. It stops when its caller's token ends."""
        ending = self._stop_at_expiry(call) if _expires_soon(call.caller) else None
        try:
            return await self._do(call)
        except BrowseError as error:
            return Outcome(call_id=call.call_id, error=error.body())
        except Exception:
            log.exception("call failed unexpectedly", action=call.action.name())
            return Outcome(call_id=call.call_id, error=unexpected("The service failed at this call.").body())
        finally:
            if ending is not None:
                ending.cancel()

    def _stop_at_expiry(self, call: FrontCall) -> asyncio.TimerHandle:
        """Schedule the end of a call for when its caller's token ends, which no event announces."""

        def stop() -> None:
            task = asyncio.create_task(self.host_calls.stop(call.record))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)

        left_s = (call.caller.expires_at or 0) - time.time()
        return asyncio.get_running_loop().call_later(left_s, stop)

    async def _do(self, call: FrontCall) -> Outcome:
        """Run the action where it belongs: in a new session, step by step, here, or on the host."""
        if call.action.makes_session and call.action.scope is Scope.PAGE:
            return await self._workflows.in_new_session(call, self._do)
        if call.action.batching is Batching.SEPARATE_CALLS:
            self.intake.addressing.check_touched(call.action, call.caller)
            return await BatchRun(call, self.intake.directory, self._begin_part, self.host_calls.cancel).run()
        address = self.intake.addressing.address(call.action, call.caller)
        self.intake.policy.check_place(call.caller, call.action, address)
        if call.action.scope is Scope.SERVICE:
            self.guard.check_service(call)
            return self.guard.noted(call, await self.service_actions.run(call, self.perform))
        inline_text, cancel = call.request.inline_text, call.record.cancel
        task = HostTask(call.caller, call.action, call.call_id, address, cancel, inline_text=inline_text)
        outcome = await self._confirmations.run(call, task, partial(self.guard.run, self.host_calls.run))
        return await self._workflows.after(call, address, outcome)

    def _note_use(self, call: FrontCall, outcome: Outcome) -> None:
        """Count the call for the session that it used."""
        named_id = call.action.addressed.session if call.action.scope is Scope.SESSION else None
        session_id = outcome.page.session_id if outcome.page else named_id
        self.intake.directory.sessions.count_call(session_id, failed=outcome.error is not None)


def _expires_soon(caller: Identity) -> bool:
    """Return whether the caller's token may end before its call does."""
    return caller.expires_at is not None and caller.expires_at - time.time() < _LONGEST_CALL_S
