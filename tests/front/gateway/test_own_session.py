"""Tests that a gateway with BROWSE_SESSION=new gives its chat a session with a copy of the shared login."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest
from mcp import Client
from starlette.responses import Response

from browse_together.contract import wire
from mcp_gateway.settings import Settings
from tests.support.chat import text
from tests.support.gateway_fixtures import connection_to
from tests.support.standin import Json, Seen, StandIn, failure, success
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

MADE: Json = {"action": "create_session", "from": "default"}


@pytest.fixture
async def client(standin: StandIn, data_dir: Path) -> AsyncIterator[Client]:
    """Return the SDK's client of a gateway whose chats get sessions of their own."""
    numbers = count(1)

    async def answer(seen: Seen) -> Response:
        if seen.body["action"] == "create_session":
            return success({"sessionId": f"s{next(numbers)}"})
        if seen.body["action"] == "clear_cookies":
            return failure("SESSION_EXPIRED", "It is over.", 410)
        return success({})

    standin.answer = answer
    settings = Settings(url=standin.url, data_dir=data_dir, autostart=False, client_id="tester", session="new")
    connection = connection_to(settings)
    connection.chats.own.appear()
    async with Client(connection.server()) as connected:
        yield connected
    connection.chats.leave()
    await connection.chats.own.service.close(within_s=1)


async def sent(standin: StandIn, client: Client, tool: str, **arguments: str) -> list[Json]:
    """Return the bodies that a call became, with the session beside each that it goes to."""
    await client.call_tool(tool, dict(arguments))
    seen = [await standin.call() for _ in range(standin.calls.qsize())]
    return [each.body | ({"in": here} if (here := each.headers.get(wire.SESSION.lower())) else {}) for each in seen]


async def test_the_session_is_made_with_the_first_page_and_anew_once_it_has_ended(
    standin: StandIn, client: Client
) -> None:
    goto: Json = {"action": "goto", "url": "https://a.example"}
    assert await sent(standin, client, "list_pages") == [{"action": "list_pages"}]
    assert await sent(standin, client, "goto", url="https://a.example") == [MADE, {**goto, "in": "s1"}]
    assert await sent(standin, client, "goto", url="https://a.example") == [{**goto, "in": "s1"}]
    other: Json = {**goto, "sessionId": "default", "in": "s1"}
    assert await sent(standin, client, "goto", url="https://a.example", sessionId="default") == [other]
    assert await sent(standin, client, "create_session") == [{"action": "create_session", "in": "s1"}]
    await sent(standin, client, "clear_cookies")
    assert (await sent(standin, client, "goto", url="https://a.example"))[1]["in"] == "s3"


async def test_calls_at_once_share_one_session(standin: StandIn, client: Client) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(client.call_tool("open_page", {}) for _ in range(4)))
    bodies = [(await standin.call()).body for _ in range(standin.calls.qsize())]
    assert (len(bodies), bodies.count(MADE)) == (5, 1)


async def test_a_chat_without_a_right_to_the_copy_is_told_so_and_opens_nothing(
    standin: StandIn, client: Client
) -> None:
    async def refuse(_: Seen) -> Response:
        return failure("FORBIDDEN", "The token is for others.", 403)

    standin.answer = refuse
    result = await client.call_tool("goto", {"url": "https://a.example"})
    assert result.is_error
    assert "The token is for others." in text(result.model_dump(mode="json", by_alias=True))
    assert [(await standin.call()).body for _ in range(standin.calls.qsize())] == [MADE]
