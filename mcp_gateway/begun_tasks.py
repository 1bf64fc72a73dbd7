"""Keeps the calls that this gateway gave out as tasks, for when the service cannot tell of them: it has ended, or was
started anew. The gateway sends what may be repeated again, and knows how the rest ended."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Final, NamedTuple

from browse_together.client.reply import Failure, Reply
from browse_together.contract.background import Background
from browse_together.contract.errors import Cancelled
from browse_together.contract.events import CallFollowed

_MOST: Final = 100
_WAITS: Final = "waiting for the service, which has ended or does not answer"


class BegunTasks:
    """The calls of one chat that have become tasks of this gateway."""

    def __init__(self) -> None:
        self._calls = Background()
        self._begun: dict[str, _Begun] = {}

    def spawn(self, call: Coroutine[object, object, Reply]) -> asyncio.Task[Reply]:
        """Begin a call that may become a task."""
        return self._calls.spawn(call)

    def keep(self, call: CallFollowed, reply: asyncio.Task[Reply]) -> None:
        """Keep a call that goes on as a task. The service alone keeps replies of calls that succeed."""
        self._begun[call.call_id] = _Begun(call, reply)
        reply.add_done_callback(lambda _: self._ended(call))
        while len(self._begun) > _MOST:
            del self._begun[next(iter(self._begun))]

    def told(self, task_id: str) -> tuple[Reply, CallFollowed] | None:
        """Return the reply to a call of which the service does not tell, as far as there is one, and how far it is;
        None if it began elsewhere, or too long ago."""
        if (begun := self._begun.get(task_id)) is None:
            return None
        call, reply = begun
        if not reply.done():
            now = {"progress": _WAITS, "request": None, "elapsed_ms": _since(call)}
            return Reply(success=True), call.model_copy(update=now)
        return begun.outcome(), call

    def cancel(self, task_id: str) -> bool:
        """Have a call end that goes on here; it tells the service so. Returns whether there is one."""
        begun = self._begun.get(task_id)
        return begun is not None and begun.reply.cancel()

    def _ended(self, call: CallFollowed) -> None:
        begun = self._begun.pop(call.call_id, None)
        if begun is not None and not begun.outcome().success:
            ended = call.model_copy(update={"has_replied": True, "elapsed_ms": _since(call)})
            self._begun[call.call_id] = _Begun(ended, begun.reply)


class _Begun(NamedTuple):
    """A call as the service told of it last, and its reply to come."""

    call: CallFollowed
    reply: asyncio.Task[Reply]

    def outcome(self) -> Reply:
        """Return the reply that came, or that none is waited for any more."""
        if not self.reply.cancelled():
            return self.reply.result()
        message = f"{self.call.action} was cancelled. What it had done by then stays."
        return Reply(success=False, error=Failure(code=Cancelled.code, message=message))


def _since(call: CallFollowed) -> int:
    return max(call.elapsed_ms, round((time.time() - call.began_at) * 1000))
