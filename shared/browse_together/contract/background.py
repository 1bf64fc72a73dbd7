"""Runs work that nobody waits for, or not for long."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")


class Background:
    """Tasks that nobody waits for. Each is kept until it ends, because asyncio itself keeps none alive."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Cancel all tasks, and wait for their end."""
        for task in [*self._tasks]:
            task.cancel()
        await self.finish()

    async def finish(self) -> None:
        """Wait for the end of all tasks, whether they fail or not."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def until_one_ends(*works: Coroutine[object, object, object]) -> None:
    """Do several works at once until one of them ends, and cancel the others. Raises the error of one that failed."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class AtMost:
    """A limit for work that may be left off: what takes longer, or fails in one of these ways, is no failure."""

    def __init__(self, seconds: float | None, *failures: type[Exception]) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._failures: tuple[type[Exception], ...] = (TimeoutError, *failures)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            return True
        return isinstance(error, self._failures)
