"""The way of every call through the front half, from whichever door, without Playwright: admission, then the stages."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Final

import structlog

from browse_together.contract import catalogue
from browse_together.contract.actions.base import Action
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import BrowseError, RateLimited
from browse_together.contract.model import Json
from browse_together.contract.wire import REPLY_WITHIN_MS
from browser_service.security.auth import Identity
from browser_service.spine.batch import SeparateSteps
from browser_service.spine.call import FrontCall, Go, Stage, way_through
from browser_service.spine.confirmation import Confirmations
from browser_service.spine.envelope import failed, reply_of, still_running
from browser_service.spine.host_calls import HandedOver, NewPages
from browser_service.spine.parts import FrontParts
from browser_service.spine.ports import Handlers, ServiceActions
from browser_service.spine.register import Record, Reply
from browser_service.spine.stages import (
    Addressed,
    AnotherPage,
    Counted,
    EndedWithPage,
    InNewSession,
    SavedLogins,
    ToItsEnd,
    WithoutPrivate,
)
from browser_service.spine.taken_logins import TakenLogins, WithClosedSession

_HEARTBEAT_S: Final = 2.0
_FINISHES_WITHIN_S: Final = 1.0


@dataclass(eq=False)
class Dispatcher:
    """The pipeline of the front half. A feature adds its stage to the list, and nothing else knows of it."""

    parts: FrontParts
    handlers: Handlers
    reply_within_ms: int = REPLY_WITHIN_MS

    def __post_init__(self) -> None:
        parts, directory, perform = self.parts, self.parts.directory, self.perform
        self._to_host: tuple[Stage, ...] = (
            HandedOver(directory, parts.clients, parts.policy),
            NewPages(directory, parts.quotas, parts.policy),
            parts.host_calls,
        )
        self._stages: tuple[Stage, ...] = (
            parts.traced,
            parts.ledger,
            WithoutPrivate(parts.policy),
            TakenLogins(directory.sessions, parts.lifecycle.vault.kept),
            Counted(directory.sessions),
            SavedLogins(parts.feeds.events),
            ToItsEnd(parts.host_calls),
            parts.talk,
            InNewSession(perform),
            SeparateSteps(parts.addressing, directory, self._begin, parts.host_calls.cancel),
            WithClosedSession(parts.lifecycle),
            Addressed(parts.addressing, parts.policy),
            ServiceActions(parts, self.handlers, self.step, self._go_to_host),
            EndedWithPage(directory, perform),
            AnotherPage(parts.clients),
            Confirmations(perform, parts.guard, parts.owner_asks),
            parts.guard,
            *self._to_host,
        )
        self._ways = dict[tuple[type[Action], bool], Go]()
        for kind in catalogue.ACTIONS.values():
            self._way(kind)

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
            parsed = catalogue.parse(policy.placed(caller, call.full_body()))
            call.action = action = self.parts.addressing.for_whole_session(parsed)
        except BrowseError as error:
            return failed(error.body(call.request_id))
        try:
            policy.check(caller, action)
            call.action = policy.narrowed(caller, action)
            return self._register(call)
        except RateLimited as error:  # unrecorded, because floods of calls would push others' records out
            return failed(error.body(call.request_id))
        except BrowseError as error:
            refusal = error.body(call.request_id)
            self.parts.ledger.refused(call, action, refusal)
            self.parts.traced.refused(call, action, refusal)
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

    # --- the stages --------------------------------------------------------------------------------------------------

    async def _reply(self, call: FrontCall) -> Reply:
        """Take the call through its stages, and make the reply of its outcome."""
        structlog.contextvars.bind_contextvars(call_id=call.call_id)  # for all log lines of this task
        outcome = await self._way(type(call.action))(call)
        self.parts.clients.forget_progress(call.client_id, call.call_id)
        return reply_of(call, outcome)

    def _way(self, kind: type[Action]) -> Go:
        """Return the way of an action's calls. It is another one once a session is guarded."""
        key = (kind, self.parts.directory.sessions.any_guarded)
        if key not in self._ways:
            self._ways[key] = way_through(self._stages, kind)
        return self._ways[key]

    async def _go_to_host(self, call: FrontCall) -> Outcome:
        """Take a call that another one consists of to its host, within the limits of acts."""
        return await way_through(self._to_host, type(call.action))(call)
