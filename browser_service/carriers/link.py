"""One connection between the front and a host: calls and answers both ways, within limits."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal

import structlog
from pydantic import ValidationError

from browse_together.contract.errors import BrowseError, ErrorBody, InvalidRequest, Relayed
from browse_together.contract.local_times import worded
from browse_together.contract.model import Model
from browser_service.carriers.messages import (
    MOST_BESIDE,
    MOST_BULK,
    AnswerHead,
    CallHead,
    Extra,
    Head,
    Method,
    PartHead,
    Refused,
    misread,
    packed,
    unpacked,
)
from browser_service.carriers.wire import LinkLost, NotOwner, Outbox, Pace, Wire
from browser_service.observability.logging import unexpected

_MOST_WAITING: Final = 16_000_000
"""The most bytes of messages that wait for the other side to read, beside the large bodies."""
_MOST_GIVEN_UP: Final = 10_000
_MOST_INCOMPLETE: Final = 1_000

Kind = Literal["call", "answer"]
log = structlog.get_logger(__name__)


class Link:
    """A connection over which both sides call and answer. Whatever is wrong with a message ends it."""

    def __init__(
        self,
        wire: Wire,
        served: Mapping[str, Method],
        serve: Callable[[str, Model], Awaitable[object]],
        *,
        most_served: int,
        goes_on: bool = False,
        extra: Extra = "forbid",
    ) -> None:
        """`served` has what the other side may ask, and `serve` does it; `most_served` limits how much at once. With
        `goes_on`, as on a host, that does not end with the link, and may have any size. `extra` says what becomes of
        fields that are not known."""
        self._wire, self._served, self._serve = wire, served, serve
        self._most_served, self._goes_on, self._extra = most_served, goes_on, extra
        self._messages, self._parts = Outbox(_MOST_WAITING), Outbox(MOST_BULK)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[AnswerHead, bytes]]] = {}
        self._given_up = set[int]()
        """Calls whose answers nobody waits for any more."""
        self._last_served = 0
        self._heads: dict[tuple[Kind, int], CallHead | AnswerHead] = {}
        """Those whose bodies are still to come."""
        self._bodies: dict[tuple[Kind, int], list[bytes]] = {}
        self._whole = set[tuple[Kind, int]]()
        self._held = 0
        self._tasks = set[asyncio.Task[None]]()
        self._serving: dict[asyncio.Task[None], int] = {}
        """The calls of the other side that run, and the bytes of their bodies."""
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Serve until the link ends. Raises the reason: LinkLost, or InvalidRequest for what the other side did wrong.
        Whoever waits for an answer gets LinkLost."""
        self._attend(self._messages.empty_into(self._wire), self._receive(self._wire))
        try:
            await self._over
        finally:
            if not self._over.done():
                self._over.cancel()
            ending = self._tasks if self._goes_on else self._tasks | self._serving.keys()
            for task in ending:
                task.cancel()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LinkLost("the link has ended"))
            await asyncio.gather(*ending, return_exceptions=True)

    def end(self, error: Exception) -> None:
        """End the link; `run` raises the error."""
        if not self._over.done():
            self._over.set_exception(error)

    def carry_bulk(self, wire: Wire) -> None:
        """Carry large bodies over a second connection, whose end is the link's."""
        self._attend(self._parts.empty_into(wire), self._receive(wire))

    async def ended(self) -> None:
        await asyncio.wait([self._over])

    async def call(self, method: Method, name: str, body: bytes) -> Any:  # Any: the method's own
        """Ask for something, and return the result. Raises LinkLost, NotOwner, or the other side's error."""
        number = next(self._numbers)
        self._send(CallHead(id=number, method=name), body)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            head, answer = await future
        except asyncio.CancelledError:
            self._given_up.add(number)
            if len(self._given_up) > _MOST_GIVEN_UP:
                self.end(LinkLost("the other side answers nothing"))
            raise
        finally:
            self._waiting.pop(number, None)
        if head.state == "not_owner":
            raise NotOwner
        try:
            if head.state == "error":
                raise Relayed(ErrorBody.model_validate_json(answer))
            return method.result.validate_json(answer, extra=self._extra)
        except ValidationError as error:
            self.end(problem := misread(f"answer to {name!r}", error))
            raise LinkLost(problem.message) from None

    # --- sending ---------------------------------------------------------------------------------------------------

    def _send(self, head: CallHead | AnswerHead, body: bytes) -> None:
        """Raises LinkLost, also if too much waits already."""
        if self._over.done():
            raise LinkLost("the link has ended", sent=False)
        try:
            if len(body) <= MOST_BESIDE:
                self._messages.put(packed(head, body))
                return
            for start in range(0, len(body), MOST_BESIDE):
                end = start + MOST_BESIDE
                self._parts.put(packed(PartHead(of=head.kind, id=head.id, last=end >= len(body)), body[start:end]))
            self._messages.put(packed(head.model_copy(update={"bulk": True})))
        except LinkLost as error:
            self.end(error)
            raise

    # --- receiving -------------------------------------------------------------------------------------------------

    def _attend(self, *works: Awaitable[None]) -> None:
        for work in works:
            task = asyncio.ensure_future(self._watched(work))
            self._tasks.add(task)

    async def _watched(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (BrowseError, LinkLost) as error:
            self.end(error)

    async def _receive(self, wire: Wire) -> None:
        pace = Pace()
        while True:
            message = await wire.receive()
            await pace.keep(len(message))
            head, body = unpacked(message, self._extra)
            if wire is self._wire:
                self._take(head, body)
            else:
                self._take_part(head, body)

    def _take(self, head: Head, body: bytes) -> None:
        if isinstance(head, Refused):
            raise Relayed(head.error)
        if not isinstance(head, CallHead | AnswerHead):
            raise InvalidRequest(f"The message {head.kind!r} has no place here.", hint="It is said once, at first.")
        if isinstance(head, CallHead):
            self._check_call(head)
        elif head.id not in self._waiting and head.id not in self._given_up:
            raise InvalidRequest(f"Nobody asked for the answer {head.id}.", hint="Each call is answered once.")
        if head.bulk:
            self._heads[head.kind, head.id] = head
            self._join(head.kind, head.id)
        else:
            self._deliver(head, body)

    def _take_part(self, head: Head, body: bytes) -> None:
        if not isinstance(head, PartHead):
            raise InvalidRequest(
                f"The message {head.kind!r} has no place on a bulk link.", hint="Send it on the other."
            )
        key = (head.of, head.id)
        if key in self._whole:
            raise InvalidRequest(f"The body of the {head.of} {head.id} was whole.", hint="Send each part once.")
        self._held += len(body)
        self._bodies.setdefault(key, []).append(body)
        if self._held > MOST_BULK or len(self._bodies) > _MOST_INCOMPLETE:
            raise InvalidRequest(f"More than {MOST_BULK:,} bytes of bodies are incomplete.", hint="Send less at once.")
        if head.last:
            self._whole.add(key)
            self._join(*key)

    def _join(self, kind: Kind, number: int) -> None:
        """Deliver what came by both connections, once it is whole."""
        key = (kind, number)
        if key in self._heads and key in self._whole:
            self._whole.discard(key)
            body = b"".join(self._bodies.pop(key))
            self._held -= len(body)
            self._deliver(self._heads.pop(key), body)

    def _check_call(self, head: CallHead) -> None:
        if head.method not in self._served:
            raise InvalidRequest(f"There is no method {head.method!r}.", hint="Run the same version on both machines.")
        if head.id <= self._last_served:
            raise InvalidRequest(f"The call {head.id} was there already.", hint="Number calls upwards.")
        if len(self._serving) + len(self._heads) >= self._most_served:
            raise InvalidRequest(f"More than {self._most_served} calls run.", hint="Wait for answers.")
        self._last_served = head.id

    def _deliver(self, head: CallHead | AnswerHead, body: bytes) -> None:
        body = worded(body)
        if isinstance(head, CallHead):
            if not self._goes_on and sum(self._serving.values()) + len(body) > MOST_BULK:
                raise InvalidRequest(
                    f"The calls that run have more than {MOST_BULK:,} bytes.", hint="Wait for answers."
                )
            task = asyncio.create_task(self._answer(head, body))
            self._serving[task] = len(body)
            task.add_done_callback(self._serving.pop)
        elif (future := self._waiting.get(head.id)) is None or future.done():
            self._given_up.discard(head.id)
        else:
            del self._waiting[head.id]
            future.set_result((head, body))

    async def _answer(self, head: CallHead, body: bytes) -> None:
        method = self._served[head.method]
        try:
            arguments = method.arguments.model_validate_json(body, extra=self._extra)
        except ValidationError as error:
            self.end(misread(f"call {head.method!r}", error))
            return
        state, answer = await self._done(head.method, method, arguments)
        try:
            self._send(AnswerHead(id=head.id, state=state), answer)
        except LinkLost:
            log.debug("an answer came too late for its link", method=head.method)

    async def _done(
        self, name: str, method: Method, arguments: Model
    ) -> tuple[Literal["ok", "error", "not_owner"], bytes]:
        try:
            return "ok", method.result.dump_json(await self._serve(name, arguments))
        except NotOwner:
            return "not_owner", b""
        except BrowseError as error:
            return "error", error.body().model_dump_json().encode()
        except Exception:
            log.exception("a call over the link failed unexpectedly", method=name)
            return "error", unexpected(f"{name!r} failed.").body().model_dump_json().encode()
