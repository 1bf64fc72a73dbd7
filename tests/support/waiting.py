"""Waits for what nothing tells: one limit for all waits of tests, and a pause between two looks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_S = 60
"""More than a busy machine needs for anything. Whoever waits as long has found a defect."""

_BETWEEN_LOOKS_S = 0.01

Found = TypeVar("Found")


async def become(holds: Callable[[], object]) -> None:
    """Wait until something comes true."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(_BETWEEN_LOOKS_S)


async def found(look: Callable[[], Awaitable[Found]], holds: Callable[[Found], object] = bool) -> Found:
    """Look again and again, and return what was found once it is as it should be."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds(seen := await look()):  # noqa: ASYNC110 - likewise
            await asyncio.sleep(_BETWEEN_LOOKS_S)
    return seen
