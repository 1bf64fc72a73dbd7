"""The calls that a host runs, and the outcomes of those that ended lately: a call may come twice."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import partial
from typing import Final

from browser_service.host.call_run import CallRun
from browser_service.rules.bounded import Bounded
from shared.calls import Call, Outcome
from shared.model import weight

_MOST_CALLS: Final = 2_000
_MOST_WEIGHT: Final = 64_000_000
_MOST_CANCELLED: Final = 2_000
_END_WITHIN_S: Final = 5

Reply = asyncio.Future[Outcome]


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

    def reply_to(self, call: Call, answer: Callable[[Call, Reply], Coroutine[object, object, None]]) -> Reply:
        """Return the reply of a call: of one that has come before, and may still run, or of one that `answer` begins
        to give now, and to its end, whoever waits for it."""
        key = _key(call)
        if (known := self._replies.get(key)) is not None:
            return known
        reply = self._replies[key] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(partial(self._weigh, key))
        task = asyncio.create_task(answer(call, reply))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return reply

    def _weigh(self, key: str, reply: Reply) -> None:
        """Weigh a reply that is set by now."""
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
        """Request the cancel of a call, also of one that is still on its way here, and return it where it runs."""
        if (run := self._runs.get(call_id)) is None:
            self._cancelled[call_id] = None
            return None
        run.cancel.request()
        return run

    def end_all(self) -> None:
        """Cancel them all: what has not begun did not happen."""
        for run in [*self._runs.values()]:
            run.cancel.request(ending=True)

    async def wait_until_ended(self) -> None:
        """Wait for the end of those that were cancelled."""
        if self._working:
            await asyncio.wait(self._working, timeout=_END_WITHIN_S)


def _key(call: Call) -> str:
    """Name the run of a call: once a person has confirmed it, it runs once more. Several rules may ask for one call."""
    return f"{call.call_id}~confirmed{len(call.confirmed)}" if call.confirmed else call.call_id


def _weight(reply: Reply) -> int:
    if not reply.done():
        return 0
    outcome = reply.result()
    return weight(outcome.result) + sum(weight(each.body) + weight(each.state) for each in outcome.undo)
