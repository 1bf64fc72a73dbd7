"""Closes what the browser has open, which may be gone already, or hang."""

import asyncio
from collections.abc import Awaitable
from typing import Final

from playwright.async_api import Error as PlaywrightError

_CLOSES_WITHIN_S: Final = 5


async def bounded(closing: Awaitable[object]) -> None:
    """Wait a bounded time for something to close, and ignore that it does not, or is gone already."""
    try:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            await closing
    except (PlaywrightError, TimeoutError):
        return
