"""Runs work that nobody waits for, or not for long."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
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


@asynccontextmanager
async def at_most(seconds: float | None, *failures: type[Exception]) -> AsyncIterator[None]:
    """Leave off what takes longer, or fails in one of these ways, and go on."""
    with suppress(TimeoutError, *failures):
        async with asyncio.timeout(seconds):
            yield
