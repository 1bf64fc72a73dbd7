"""Tests that the connections of one client open one after another, and keep no other client waiting."""

import asyncio

import pytest

from mcp_gateway.transports.access import Turnstile

pytestmark = pytest.mark.anyio


async def test_a_client_that_opens_hundreds_keeps_no_other_waiting() -> None:
    turnstile, opened = Turnstile(), list[str]()

    async def enter(client: str) -> None:
        async with turnstile.passed(client):
            opened.append(client)
            await asyncio.sleep(0)  # opening takes a few turns of the loop

    crowd = [asyncio.create_task(enter("crowd")) for _ in range(300)]
    await asyncio.gather(asyncio.create_task(enter("other")), *crowd)
    assert opened.index("other") < 5
    assert opened.count("crowd") == 300


async def test_one_that_fails_or_leaves_lets_the_next_through() -> None:
    turnstile = Turnstile()

    async def enter(failure: Exception | None = None) -> str:
        async with turnstile.passed("client"):
            await asyncio.sleep(0)  # as above
            if failure:
                raise failure
            return "in"

    failed, gone, last = (asyncio.create_task(enter(each)) for each in (ValueError(), None, None))
    await asyncio.sleep(0)  # until the first is in
    gone.cancel()
    found = await asyncio.wait_for(asyncio.gather(failed, gone, last, return_exceptions=True), 5)
    assert [type(each).__name__ for each in found] == ["ValueError", "CancelledError", "str"]
