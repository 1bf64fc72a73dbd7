"""Tests of the limit for work that may be left off."""

import asyncio

import pytest

from browse_together.contract.background import AtMost

pytestmark = pytest.mark.anyio


async def test_what_takes_longer_or_fails_as_named_is_left_off() -> None:
    async with AtMost(0):
        await asyncio.Event().wait()
    async with AtMost(None, KeyError):
        raise KeyError
    with pytest.raises(ValueError, match="another"):
        async with AtMost(None, KeyError):
            raise ValueError("another")


async def test_a_cancelled_task_does_not_go_on() -> None:
    began = asyncio.Event()

    async def wait() -> None:
        async with AtMost(None, KeyError):
            began.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
