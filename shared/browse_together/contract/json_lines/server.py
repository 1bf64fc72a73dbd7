"""Answers calls as they come: those on one subject in their order, all others at the same time.

If a client does not read, or sends without end, this stops reading from it, so that the work in progress stays
limited.
"""

import asyncio
import contextlib
import functools
import logging
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Final

from browse_together.contract.json_lines import messages
from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.messages import Call, InvalidMessage, Json, Refused

_MOST_CALLS: Final = 64
_MOST_MESSAGES_BYTES: Final = 2
"""Limit of the bytes of all lines in progress, as a multiple of the longest message."""
_LOOKED_AFTER_S: Final = 0.5

log = logging.getLogger(__name__)


class Room:
    """Room for lines in progress: a limited number with limited bytes, or one of any size."""

    def __init__(self, calls: int, size: int) -> None:
        self._most = (calls, size)
        self._calls = self._size = 0
        self._changed = threading.Condition()

    def enter(self, size: int) -> None:
        """Wait for room, in the reading thread."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_room(size))
            self._calls += 1
            self._size += size

    def leave(self, size: int) -> None:
        with self._changed:
            self._calls -= 1
            self._size -= size
            self._changed.notify()

    def _has_room(self, size: int) -> bool:
        calls, most_size = self._most
        return self._calls == 0 or (self._calls < calls and self._size + size <= most_size)


class Order:
    """The order of calls. Each waits for earlier calls on its subject and for those without one. A call without a
    subject waits for all."""

    def __init__(self) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self._last: dict[str, asyncio.Task[None]] = {}
        self._alone: asyncio.Task[None] | None = None

    def before(self, subject: str | None) -> list[asyncio.Task[None]]:
        """Return the tasks that a call on this subject must wait for."""
        if subject is None:
            return [*self.running]
        return [task for task in (self._last.get(subject), self._alone) if task is not None and not task.done()]

    def add(self, subject: str | None, task: asyncio.Task[None]) -> None:
        self.running.add(task)
        task.add_done_callback(functools.partial(self._forget, subject))
        if subject is None:
            self._alone = task
        else:
            self._last[subject] = task

    def _forget(self, subject: str | None, task: asyncio.Task[None]) -> None:
        self.running.discard(task)
        if subject is not None and self._last.get(subject) is task:
            del self._last[subject]


class Server:
    """The server of one client, until that sends `quit` or closes its side. Calls in progress are still answered then.

    `run` returns a call's result, or raises Refused. `subject` returns what a call concerns, such as a page.
    """

    def __init__(
        self,
        lines: Lines,
        run: Callable[[Call], Awaitable[Json]],
        subject: Callable[[Call], str | None] = lambda _: None,
    ) -> None:
        self._lines = lines
        self._run = run
        self._subject = subject
        self._room = Room(_MOST_CALLS, _MOST_MESSAGES_BYTES * lines.most_bytes)
        self._order = Order()
        self._heard = asyncio.Queue[tuple[Call | InvalidMessage, int] | None]()
        self._replies = queue.SimpleQueue[tuple[bytes, int] | None]()
        self._written = asyncio.Event()
        self._gone = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the end. Ends at once if nothing reads the replies."""
        loop = asyncio.get_running_loop()
        for work in (self._read, self._write):
            threading.Thread(target=work, args=(loop,), daemon=True).start()
        answering, gone = asyncio.ensure_future(self._answer_all()), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._replies.put(None)
            for task in (answering, gone):
                task.cancel()
            await asyncio.wait((answering, gone))
        if not self._gone.is_set():
            answering.result()
            await self._written.wait()

    async def _answer_all(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            while (heard := await self._heard.get()) is not None:
                said, size = heard
                subject = None if isinstance(said, InvalidMessage) else self._subject(said)
                before = self._order.before(subject)
                self._order.add(subject, tasks.create_task(self._answer(said, size, before)))
            while self._order.running:
                await asyncio.wait(self._order.running, timeout=_LOOKED_AFTER_S)
                if not self._lines.is_read:
                    self._gone.set()

    async def _answer(self, call: Call | InvalidMessage, size: int, before: list[asyncio.Task[None]]) -> None:
        """Answer a call or an invalid line. The error of a line without an id can be matched only by its position."""
        if before:
            await asyncio.wait(before)
        if isinstance(call, InvalidMessage):
            self._replies.put((messages.error(call.call_id, str(call)), size))
            return
        try:
            reply = messages.result(call.id, await self._run(call))
        except Refused as refused:
            reply = messages.error(call.id, str(refused))
        except Exception as error:  # a defect of the tool must not end the connection
            log.exception("the tool %s failed", call.tool)
            # the protocol's own words, like all of its errors
            reply = messages.error(call.id, f"Error interno: {type(error).__name__}: {error}")
        self._replies.put((reply, size))

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        while (reply := self._replies.get()) is not None:
            line, size = reply
            if not self._lines.write(line):
                _tell(loop, self._gone.set)
                break
            self._room.leave(size)
        _tell(loop, self._written.set)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for line, is_complete in self._lines.read():
                if not line.strip():
                    continue
                said: Call | InvalidMessage | None
                try:
                    said = messages.parse(line) if is_complete else messages.too_large(line, self._lines.most_bytes)
                except InvalidMessage as invalid:
                    said = invalid
                if said is None:
                    return
                self._room.enter(len(line))
                _tell(loop, self._heard.put_nowait, (said, len(line)))
        except OSError:  # the terminal was closed
            return
        finally:
            _tell(loop, self._heard.put_nowait, None)


def _tell(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *args: object) -> None:
    """Call in the loop, from a thread that may outlast it."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *args)
