"""Waits a limited time for work, and for what may hang when it closes."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost

_CLOSES_WITHIN_S: Final = 5


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
    async with AtMost(_CLOSES_WITHIN_S, PlaywrightError):
        await closing
