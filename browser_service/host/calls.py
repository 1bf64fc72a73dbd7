"""The calls that run on the host now or ended lately, and each run of one."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.calls import Call, Outcome
from browse_together.contract.errors import BrowseError, Cancelled, ServiceUnavailable, UnknownOutcome
from browse_together.contract.model import Json, weight
from browser_service.host.record.record import PageRecord
from browser_service.host.seam import CallKey
from browser_service.rules.bounded import Bounded
from browser_service.rules.turns import PageQueue
from browser_service.waits import Cancel, turn_on

_MOST_CALLS: Final = 2_000
_MOST_WEIGHT: Final = 64_000_000
_MOST_CANCELLED: Final = 2_000
_MOST_TARGETS: Final = 120
_MOST_CAME: Final = 5
_END_WITHIN_S: Final = 5
Reply = asyncio.Future[Outcome]
Complete = Callable[[Call, Reply], Coroutine[None, None, None]]
"""The function that brings a call to its end, and sets its reply."""

Handler = Callable[..., Awaitable[Json]]
"""The function that performs an action. It takes a BrowserPage or a BrowserSession, by the action's scope, and the
action."""


@dataclass(eq=False)
class Suspension:
    """The dialogs that blocked a call: how many there were, and whether one does now."""

    count: int = 0
    resumed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class CallRun:
    """A call on its way through the host, or one part of it: its request, and the results so far."""

    call: Call
    action: Action
    reply: "asyncio.Future[Outcome]"
    """What its caller gets: the outcome, or the reply that a dialog blocks it."""
    outcome: "asyncio.Future[Outcome]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    cancel: Cancel = field(default_factory=Cancel)
    page: PageRecord | None = None
    admitted: bool = False
    """True once it was let in; until then it has done nothing."""
    has_turn: bool = False
    is_part: bool = False
    url_before: str | None = None
    requests: list[Json] = field(default_factory=list)
    read_at: set[str] = field(default_factory=set)
    """The URLs that the reply may tell of, those of the parts included."""
    targets: dict[str, list[str]] = field(default_factory=dict)
    """Lasting selectors of the elements that the call and its parts named, by the selectors that it gave."""
    secret_fields: list[str] = field(default_factory=list)
    """The selectors of the fields for secrets that the call and its parts filled."""
    page_tools: list[Json] = field(default_factory=list)
    """What each of the page's own tools that they called has to take; empty where that is not known."""
    came: list[str] = field(default_factory=list)
    """What appeared by it that a page announces: a message, a dialog."""
    popups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    part_results: list[Json] = field(default_factory=list)
    part_index: int | None = None
    taken_logins: list[Json] = field(default_factory=list)
    """What it and its parts took of the session's logins."""
    stopped_by: str = ""
    """The person who stopped it, if one did."""
    waited_ms: int | None = None
    _suspension: Suspension = field(default_factory=Suspension)
    _suspended_before: int = 0

    @asynccontextmanager
    async def turn(self, queue: PageQueue, wait_ms: int) -> AsyncIterator[bool]:
        """Hold a turn, and yield whether the call had to wait. Raises TimedOut, which names the turn's holder, and
        Cancelled."""
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            try:
                waits = await stack.enter_async_context(turn_on(queue, self.call, self.action.name(), wait_ms))
            finally:
                self.waited_ms = round((time.monotonic() - began) * 1000)
            yield waits

    @property
    def acts(self) -> bool:
        """True once it may do something to its page."""
        return self.admitted and self.action.effect is not Effect.READS

    @property
    def client_call_id(self) -> str:
        """Return the call's id as its client knows it."""
        return CallKey.parse(self.call.call_id).call_id

    @property
    def ended(self) -> bool:
        return self.outcome.done()

    @property
    def suspended(self) -> bool:
        return self._suspension.count > 0 and not self._suspension.resumed.is_set()

    @property
    def was_suspended(self) -> bool:
        return self._suspension.count > self._suspended_before

    def suspend(self) -> None:
        """Stop the call's clock for a dialog that opened, whose time is not the call's."""
        self._suspension.count += 1
        self._suspension.resumed.clear()
        self.cancel.pause()

    def resume(self) -> None:
        self._suspension.resumed.set()
        self.cancel.resume()

    def for_part(self, action: Action) -> "CallRun":
        """Make the run of a part, with the same caller, cancel and dialogs, and an account of its own."""
        return replace(
            self,
            action=action,
            is_part=True,
            requests=[],
            part_results=[],
            part_index=None,
            _suspended_before=self._suspension.count,
        )

    def take_effects_of(self, ended: "Iterable[CallRun]") -> None:
        """Take over what was observed of calls that waited for this one."""
        for run in ended:
            self.requests += run.outcome.result().requests
            self.came += run.came
            self.popups += run.popups
            self.files += run.files

    def tell_repeatably(self, outcome: Outcome) -> None:
        """Put into the outcome what it takes to do the call again."""
        outcome.url_before, outcome.popups, outcome.answered = self.url_before, self.popups, bool(self.dialogs)
        outcome.targets, outcome.came = dict([*self.targets.items()][:_MOST_TARGETS]), self.came[:_MOST_CAME]
        outcome.secret_fields, outcome.files = self.secret_fields, self.files[:_MOST_CAME]
        outcome.page_tools = self.page_tools[:_MOST_TARGETS]

    async def wait_for_dialog(self) -> None:
        """Wait until the dialog is closed, which takes a limited time, or the call is cancelled."""
        async with self.cancel.within():
            await self._suspension.resumed.wait()

    def check_not_cancelled(self) -> None:
        """Raise if the call was cancelled before its effect began."""
        if self.cancel.ending:
            raise self._not_begun_error()
        if self.cancel.requested:
            raise Cancelled("The call was cancelled before it began; it did not happen.")

    def _not_begun_error(self) -> ServiceUnavailable:
        """Make the error for a call that did not begin before the service ended. A gateway reads it too, and sends the
        call again once the service is back."""
        return ServiceUnavailable(
            f"The service is ending; {self.action.name()} did not happen.",
            hint="Repeat the call in a moment: pages and logins come back with the service.",
            details={"context": {"ending": True}},
        )

    def cancelled_error(self) -> BrowseError:
        harmless = self.action.effect is Effect.READS or bool(self.action.claim)
        if self.cancel.ending:
            name = self.action.name()
            return (
                self._not_begun_error() if harmless else UnknownOutcome(f"{name} was under way when the service ended.")
            )
        if harmless:
            return Cancelled(f"{self.action.name()} was cancelled.")
        if self.suspended:
            return UnknownOutcome(f"{self.action.name()} was cancelled, and the dialog that it waited for dismissed.")
        return UnknownOutcome(f"{self.action.name()} was cancelled while it ran.")


class RunningCalls(Mapping[str, CallRun]):
    """The calls that run, by their ids."""

    def __init__(self) -> None:
        self._runs: dict[str, CallRun] = {}
        self._replies = Bounded[str, Reply](
            _MOST_CALLS, weigh=_weight, most_weight=_MOST_WEIGHT, spared=lambda reply: not reply.done()
        )
        self._working: set[asyncio.Task[None]] = set()
        self._cancelled = Bounded[str, None](_MOST_CANCELLED)

    def __getitem__(self, call_id: str) -> CallRun:
        return self._runs[call_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def on_page(self, page_id: str) -> list[CallRun]:
        return [run for run in self._runs.values() if run.call.page_id == page_id]

    def busy(self, client_id: str, page_id: str) -> bool:
        """Say if a client has a call queued or running on a page."""
        return any(run.call.client_id == client_id for run in self.on_page(page_id))

    # --- how a call comes and ends -----------------------------------------------------------------------------------

    def reply_to(self, call: Call, complete: Complete) -> Reply:
        """Return the reply of a call. If it has come before, join that run; else `complete` begins one, which goes on
        to its end whoever waits for it."""
        key = _key(call)
        if (known := self._replies.get(key)) is not None:
            return known
        reply = self._replies[key] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(partial(self._weigh, key))
        task = asyncio.create_task(complete(call, reply))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return reply

    def _weigh(self, key: str, reply: Reply) -> None:
        """Weigh a reply again, now that it is set."""
        if key in self._replies:
            self._replies[key] = reply

    def begin(self, run: CallRun) -> None:
        self._runs[run.call.call_id] = run
        if run.call.call_id in self._cancelled:
            run.cancel.request()

    def end(self, run: CallRun) -> None:
        self._runs.pop(run.call.call_id, None)

    # --- how all of them end -----------------------------------------------------------------------------------------

    def cancel(self, call_id: str) -> CallRun | None:
        """Request the cancellation of a call, even of one that is still on its way here. Returns the call if it
        runs."""
        if (run := self._runs.get(call_id)) is None:
            self._cancelled[call_id] = None
            return None
        run.cancel.request()
        return run

    def end_all(self) -> None:
        """Cancel all calls: what has not begun did not happen."""
        for run in [*self._runs.values()]:
            run.cancel.request(ending=True)

    async def wait_until_ended(self) -> None:
        if self._working:
            await asyncio.wait(self._working, timeout=_END_WITHIN_S)


def _key(call: Call) -> str:
    """Name a run of a call: once a person has confirmed the call, it runs once more, and several rules may ask for
    that."""
    return f"{call.call_id}~confirmed{len(call.confirmed)}" if call.confirmed else call.call_id


def _weight(reply: Reply) -> int:
    if not reply.done():
        return 0
    outcome = reply.result()
    return weight(outcome.result) + sum(map(weight, outcome.taken_logins))
