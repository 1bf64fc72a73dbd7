"""Runs work beside the calls."""

import asyncio
from collections.abc import Coroutine


class Background:
    """Holds tasks that nobody waits for, so that each runs to its end: asyncio itself keeps none alive."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel what runs, and wait for its end."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def within(seconds: float, *work: Coroutine[object, object, object]) -> None:
    """Run all at once, cancel what takes longer than `seconds`, and ignore what fails."""
    tasks = [asyncio.ensure_future(each) for each in work]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
