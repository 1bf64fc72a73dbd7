"""Runs work beside the calls, and closes what may hang."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Final

from playwright.async_api import Error as PlaywrightError

_CLOSES_WITHIN_S: Final = 5


class Background:
    """Tasks that nobody waits for. Each is kept until it ends, because asyncio itself keeps none alive."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel all tasks, and wait for their end."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def within(seconds: float, *work: Coroutine[object, object, object]) -> None:
    """Run all `work` at once, cancel what takes longer than `seconds`, and ignore what fails."""
    tasks = [asyncio.ensure_future(each) for each in work]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def bounded(closing: Awaitable[object]) -> None:
    """Wait a limited time for something to close; ignore that it does not, or is gone already."""
    try:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            await closing
    except (PlaywrightError, TimeoutError):
        return
