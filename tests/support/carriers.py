"""Carries the seam between the two halves of the service as another process or machine would."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel

from browse_together.contract.calls import Call, ClientRef, Outcome
from browse_together.contract.errors import ErrorBody, HostGone
from browse_together.contract.events import EventBatch
from browse_together.contract.frames import Frame, Pointed, View
from browse_together.contract.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from browse_together.contract.strokes import Strokes
from browser_service.host.host import LocalHost

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

LONGEST_DELAY_S = 0.02
LOST = 0.1
"""The share of answers that get lost."""


def through_json(value: M) -> M:
    return type(value).model_validate_json(value.model_dump_json())


class JsonCarrier:
    """A carrier that passes every value through JSON."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host

    async def start(self) -> None:
        await self._host.start()

    async def stop(self) -> list[SessionSpec]:
        return [through_json(spec) for spec in await self._host.stop()]

    async def end_calls(self) -> None:
        await self._host.end_calls()

    async def run(self, call: Call) -> Outcome:
        return through_json(await self._host.run(through_json(call)))

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        found = await self._host.problem(through_json(options))
        return found and through_json(found)

    async def open(self, spec: SessionSpec) -> None:
        await self._host.open(through_json(spec))

    async def close(self, session_id: str) -> SessionSpec | None:
        closed = await self._host.close(session_id)
        return closed and through_json(closed)

    async def settle(self, session_id: str) -> None:
        await self._host.settle(session_id)

    async def cancel(self, call_id: str) -> None:
        await self._host.cancel(call_id)

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        await self._host.release(client_id, before_seq, for_good=for_good)

    async def rename(self, client: ClientRef, former: str) -> None:
        await self._host.rename(through_json(client), former)

    async def forget(self, client_ids: list[str], labels: list[str]) -> None:
        await self._host.forget(client_ids, labels)

    async def answer(self, request_id: str, answer: Answer) -> bool:
        return await self._host.answer(request_id, through_json(answer))

    async def discard(self, page_id: str, idle_ms: int) -> None:
        await self._host.discard(page_id, idle_ms)

    async def describe(self) -> list[PageState]:
        return [through_json(state) for state in await self._host.describe()]

    async def figures(self) -> Figures:
        return through_json(await self._host.figures())

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        frame = await self._host.frame_after(page_id, seq, wait_ms, through_json(view))
        return frame and through_json(frame)

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        found = await self._host.refusal_to_read(through_json(call))
        return found and through_json(found)

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        found = await self._host.hand(page_id, through_json(strokes))
        return found and through_json(found)

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        return through_json(await self._host.point(page_id, x, y, picks=picks))

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        return through_json(await self._host.events_after(seq, wait_ms, limit))


class UnreliableCarrier(JsonCarrier):
    """A carrier that passes messages late, out of order and more than once. Answers come late, or get lost, so that it
    asks again. `gone` is the share of calls that do not reach their host, and of those whose outcome never comes."""

    def __init__(self, host: LocalHost, seed: int, gone: float = 0) -> None:
        super().__init__(host)
        self._gone = gone
        self._random = random.Random(seed)  # noqa: S311 - a test's dice, thrown again by its seed
        self._copies: set[asyncio.Task[object]] = set()
        self._polls: set[asyncio.Task[object]] = set()
        self.repeated = 0
        self.lost = 0
        self.taken: list[str] = []
        """The calls in the order in which the front took them."""

    async def run(self, call: Call) -> Outcome:
        self.taken.append(call.call_id)
        fate = self._random.random() if self._gone else 1
        if fate < self._gone:
            raise HostGone(sent=False)
        outcome = await self._sent(lambda: super(UnreliableCarrier, self).run(call))
        if fate < 2 * self._gone:
            raise HostGone(sent=True)
        return outcome

    async def open(self, spec: SessionSpec) -> None:
        await self._sent(lambda: super(UnreliableCarrier, self).open(spec))

    async def close(self, session_id: str) -> SessionSpec | None:
        return await self._sent(lambda: super(UnreliableCarrier, self).close(session_id))

    async def settle(self, session_id: str) -> None:
        await self._sent(lambda: super(UnreliableCarrier, self).settle(session_id))

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        await self._sent(lambda: super(UnreliableCarrier, self).release(client_id, before_seq, for_good=for_good))

    async def answer(self, request_id: str, answer: Answer) -> bool:
        return await self._sent(lambda: super(UnreliableCarrier, self).answer(request_id, answer))

    async def cancel(self, call_id: str) -> None:
        await self._sent(lambda: super(UnreliableCarrier, self).cancel(call_id))

    async def describe(self) -> list[PageState]:
        return await self._sent(lambda: super(UnreliableCarrier, self).describe())

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        return await self._sent(lambda: super(UnreliableCarrier, self).events_after(seq, wait_ms, limit), self._polls)

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        return await self._sent(lambda: super(UnreliableCarrier, self).hand(page_id, strokes))

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        return await self._sent(lambda: super(UnreliableCarrier, self).refusal_to_read(call))

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        ask = lambda: super(UnreliableCarrier, self).frame_after(page_id, seq, wait_ms, view)  # noqa: E731 - one expression
        return await self._sent(ask, self._polls)

    async def _sent(self, deliver: Callable[[], Awaitable[T]], kept: set[asyncio.Task[object]] | None = None) -> T:
        """Return the answer to one of the copies. The others arrive all the same."""
        kept = self._copies if kept is None else kept
        copies = [asyncio.create_task(self._late(deliver)) for _ in range(self._random.choice((1, 1, 2, 3)))]
        self.repeated += len(copies) - 1
        for copy in copies[1:]:
            kept.add(copy)
            copy.add_done_callback(kept.discard)
        return await copies[0]

    async def _late(self, deliver: Callable[[], Awaitable[T]]) -> T:
        while True:
            await self._delay()
            answer = await deliver()
            await self._delay()
            if self._random.random() >= LOST:
                return answer
            self.lost += 1

    async def _delay(self) -> None:
        await asyncio.sleep(self._random.uniform(0, LONGEST_DELAY_S))  # this carrier is late on purpose

    async def settled(self) -> None:
        """Wait until all that was sent has arrived, except for polls, which wait for what may never come."""
        while self._copies:
            await asyncio.wait(self._copies)
