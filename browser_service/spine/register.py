"""Registers calls. The same callId joins the running call or gets the stored outcome."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browse_together.contract.background import AtMost
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import (
    CallNotFound,
    ErrorBody,
    RateLimited,
    Relayed,
    UnknownOutcome,
    ValidationFailed,
    field_details,
)
from browse_together.contract.model import Json, weight
from browser_service.rules.bounded import Bounded
from browser_service.waits import Cancel

KEPT_S = 600
_KEPT_BYTES = 64_000_000
_KEPT_CALLS = 2_000


@dataclass(frozen=True)
class Reply:
    """The reply to a caller: an HTTP status and the envelope."""

    status: int
    body: dict[str, object]
    error: ErrorBody | None = None
    """Why the call failed, as the envelope says it."""
    size: int = 0
    retry_after_s: int | None = None
    finish: Callable[[Outcome], "Reply"] | None = None
    """Makes the final reply of a call that replied early because of a dialog."""

    def result(self) -> Json:
        """Return the result, or raise the error of a failed call."""
        if self.error is not None:
            raise Relayed(self.error)
        result = self.body.get("result")
        return result if isinstance(result, dict) else {}

    def result_of_part(self) -> Json:
        """Return the result of an action that another one consists of, or raise its error without its name: the caller
        called the other one."""
        try:
            return self.result()
        except Relayed as error:
            error.details.pop("tool", None)
            raise


@dataclass(eq=False)
class Record:
    """A call, from its registration until its outcome is forgotten."""

    client_id: str
    call_id: str
    action: str
    task: asyncio.Task[Reply]
    digest: bytes
    token_id: str = ""
    """Id of the caller's token, so that revoking it can stop the call."""
    by_person: bool = False
    page_id: str = ""
    """The page that it concerns, once that is known."""
    is_task: bool = False
    """True once its client follows it by its id: it goes on while no gateway of the client is there."""
    paused: str = ""
    """Why it waits, while a person pauses its client."""
    cancel: Cancel = field(default_factory=Cancel)
    """Ends the call's waits on this side of the seam."""
    began_at: float = field(default_factory=time.monotonic)
    ended_at: float | None = None
    size: int = 0
    last: Outcome | None = None
    """Final outcome of a call that replied early."""
    _last_set: asyncio.Event = field(default_factory=asyncio.Event)

    def set_last(self, last: Outcome) -> None:
        self.last = last
        self._last_set.set()

    async def until_replied(self, seconds: float, *heard: "asyncio.Future[None]") -> None:
        """Wait up to `seconds` for the first reply, or until a person's words are `heard`."""
        ends: set[asyncio.Task[Reply] | asyncio.Future[None]] = {self.task, *heard}
        await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def until_done(self, seconds: float, *heard: "asyncio.Future[None]") -> None:
        """Wait up to `seconds` for the end of the call, or until a person's words are `heard`."""
        if not self.task.done():
            await self.until_replied(seconds, *heard)
        elif not self.done:
            async with AtMost(seconds):
                await self._last_set.wait()

    @property
    def done(self) -> bool:
        return self.task.done() and (self.task.result().finish is None or self.last is not None)

    @property
    def reply(self) -> Reply:
        """Return the latest reply of a call that has replied."""
        reply = self.task.result()
        return reply.finish(self.last) if reply.finish and self.last else reply

    @property
    def rate_limited(self) -> bool:
        """Return whether a limit refused the call, which may then come again under its id."""
        return self.task.done() and not self.task.cancelled() and self.task.result().status == RateLimited.status

    @property
    def elapsed_ms(self) -> int:
        return round(((self.ended_at or time.monotonic()) - self.began_at) * 1000)


class CallRegister:
    """The records by client and callId, so that one client's ids mean nothing to another."""

    def __init__(self) -> None:
        self._records = Bounded[tuple[str, str], Record](
            _KEPT_CALLS,
            weigh=lambda record: record.size,
            most_weight=_KEPT_BYTES,
            ttl_s=KEPT_S,
            spared=lambda record: record.ended_at is None,
        )
        self.records: Mapping[tuple[str, str], Record] = self._records

    def begin(
        self, client_id: str, call_id: str, attempt: int, action: Action, work: Callable[[], Awaitable[Reply]]
    ) -> Record:
        """Return the record of a call: the existing one, or a new one whose work has started.

        `work` may still refuse it. Raises UnknownOutcome for a resent act that this service has not heard of, but
        a question to a person joins the earlier one.
        """
        self._records.trim()
        record = self._records.get((client_id, call_id))
        if record is not None:
            if record.digest != _digest(action):
                raise ValidationFailed(
                    f"callId {call_id!r} is of an earlier call, which asked for something else.",
                    hint="Give every call an id of its own.",
                    details=field_details("callId"),
                )
            if not record.rate_limited:
                return record
        elif attempt > 1 and action.effect is not Effect.READS and not action.asks_person:
            raise UnknownOutcome(f"{action.name()} was sent before, and this service does not know what became of it.")
        record = Record(client_id, call_id, action.name(), asyncio.ensure_future(work()), _digest(action))
        self._records[client_id, call_id] = record
        record.task.add_done_callback(lambda task: self._ended(record, task))
        return record

    def find(self, client_id: str, call_id: str) -> Record:
        """Return the client's call. Raises CallNotFound, also for another client's."""
        record = self._records.get((client_id, call_id))
        if record is None:
            raise CallNotFound(f"There is no call {call_id!r} of yours.")
        return record

    def note_last(self, record: Record, last: Outcome) -> None:
        """Store the final outcome of a call that replied early."""
        record.set_last(last)
        record.size += weight(last.result)
        self._keep(record)

    def running(self, client_id: str | None = None) -> list[Record]:
        return [
            record for record in self._records.values() if not record.done and client_id in {None, record.client_id}
        ]

    def _ended(self, record: Record, task: asyncio.Task[Reply]) -> None:
        record.ended_at = time.monotonic()
        if not task.cancelled() and task.exception() is None:
            record.size = task.result().size
        self._keep(record)

    def _keep(self, record: Record) -> None:
        """Set a record again if it is still there, to restart its time and update its weight."""
        if self._records.get((record.client_id, record.call_id)) is record:
            self._records[record.client_id, record.call_id] = record


def _digest(action: Action) -> bytes:
    """Return a digest of the whole request."""
    return hashlib.sha256(f"{action.name()} {action.model_dump_json()}".encode()).digest()
