"""A websocket that is cut comes back under its session: with its pages, its subscriptions, and what became of calls."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent
from starlette.responses import Response

from browse_together.contract import wire
from mcp_gateway.websocket_client import NotConnected, Reconnect, websocket_client
from tests.front.transports.conftest import KEY, Listen, Listening
from tests.support.cuttable import Cuttable, cuttable
from tests.support.json import AnyJson
from tests.support.standin import Seen, StandIn, success
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

QUICK = Reconnect(delay_ms=10)


async def text(client: Client, tool: str, **arguments: AnyJson) -> str:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@asynccontextmanager
async def through(
    gateway: Listening, mode: str = "legacy", **options: AnyJson
) -> AsyncIterator[tuple[Client, Cuttable]]:
    """Connect a client through a network that can be cut. Any: any option of the client."""
    async with asyncio.timeout(PATIENCE_S), cuttable(urlsplit(gateway.urls["websocket"]).port or 0) as network:
        transport = websocket_client(f"ws://127.0.0.1:{network.port}/ws", key=KEY, reconnect=QUICK)
        async with Client(transport, mode=mode, **options) as client:
            yield client, network


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_a_cut_connection_goes_on_with_its_pages_and_its_subscriptions(listen: Listen) -> None:
    told = asyncio.Queue[str]()

    async def note(message: object) -> None:
        told.put_nowait(type(message).__name__)

    async with (
        listen(transport="websocket") as gateway,
        through(gateway, message_handler=note) as (client, network),
        Client(websocket_client(gateway.urls["websocket"], key=KEY), mode="legacy") as other,
    ):
        await client.session.subscribe_resource("browse://pages")
        await text(client, "open_page", pageId="kept")
        network.cut()
        assert (await text(other, "reload_page", pageId="kept")).startswith("PAGE_OWNED")
        assert "kept" in await text(client, "list_pages")
        assert network.connections == 2
        while told.qsize():
            told.get_nowait()
        assert not (await text(client, "close_page", pageId="kept")).startswith("PAGE_OWNED")
        assert await told.get() == "ResourceUpdatedNotification"


async def test_after_a_cut_the_client_reads_anew_what_may_have_changed(before_standin: Listening) -> None:
    told = asyncio.Queue[str]()

    async def note(message: object) -> None:
        told.put_nowait(type(message).__name__)

    async with through(before_standin, message_handler=note) as (client, network):
        await client.list_tools()
        network.cut()
        assert await told.get() == "ToolListChangedNotification"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_under_way_is_sent_again_under_its_id_and_answered(
    before_standin: Listening, standin: StandIn, mode: str
) -> None:
    never = asyncio.Event()

    async def wait_once(seen: Seen) -> Response:
        if seen.headers[wire.ATTEMPT.lower()] == "1" and seen.body["action"] == "goto":
            await never.wait()
        return success({"heard": seen.body["action"]})

    standin.answer = wait_once
    async with through(before_standin, mode=mode) as (client, network):
        under_way = asyncio.create_task(text(client, "goto", url="http://x/"))
        sent = await standin.call()
        network.cut()
        again = await standin.call()
        assert (again.headers[wire.CALL_ID.lower()], again.body) == (sent.headers[wire.CALL_ID.lower()], sent.body)
        assert again.headers[wire.ATTEMPT.lower()] == "2"
        assert "goto" in await under_way
        assert standin.cancels.empty()
        never.set()


async def test_a_call_that_is_cut_off_twice_is_answered_with_how_to_ask_for_it(
    before_standin: Listening, standin: StandIn
) -> None:
    never = asyncio.Event()

    async def wait(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            await never.wait()
        return success({"heard": seen.body})

    standin.answer = wait
    async with through(before_standin) as (client, network):
        lost = asyncio.create_task(client.call_tool("goto", {"url": "http://x/"}))
        for _ in range(2):
            call_id = (await standin.call()).headers[wire.CALL_ID.lower()]
            network.cut()
        with pytest.raises(MCPError, match="connection was lost during goto, twice") as error:
            await lost
        asked = re.search(r"get_call (\{.*\})", str(error.value))
        assert asked
        assert json.loads(asked[1]) == {"callId": call_id}
        assert call_id in await text(client, "get_call", callId=call_id)
        never.set()


async def test_a_client_that_closes_cancels_its_calls(before_standin: Listening, standin: StandIn) -> None:
    go_on = asyncio.Event()

    async def wait(_: Seen) -> Response:
        await go_on.wait()
        return success({})

    standin.answer = wait
    async with through(before_standin) as (client, _):
        pending = asyncio.create_task(client.call_tool("goto", {"url": "http://x/"}))
        call_id = (await standin.call()).headers["x-browse-call"]
    assert await standin.cancelled() == call_id
    go_on.set()
    await asyncio.gather(pending, return_exceptions=True)


async def test_a_gateway_that_does_not_come_back_is_given_up(before_standin: Listening) -> None:
    async with through(before_standin) as (client, network):
        await client.list_tools()
        network.accepts = False
        network.cut()
        with pytest.raises(MCPError):
            await client.call_tool("list_pages", {})
        with pytest.raises(MCPError, match="Connection closed"):
            await client.call_tool("list_pages", {})


async def test_a_gateway_that_cannot_be_reached_or_refuses_says_why(before_standin: Listening) -> None:
    url = before_standin.urls["websocket"]
    for key, address, says in (("wrong-key", url, "The key is not known here"), (KEY, "ws://127.0.0.1:1/", "reached")):
        with pytest.raises(NotConnected, match=says):
            async with websocket_client(address, key=key):
                pass
