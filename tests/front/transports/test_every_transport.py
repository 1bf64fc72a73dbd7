"""What holds by whichever door a client comes: one call is one POST to the service."""

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from mcp_gateway.connection import Connection
from mcp_gateway.websocket_client import websocket_client
from tests.front.transports.conftest import KEY, Listen, Listening
from tests.support.gateway_fixtures import connection
from tests.support.standin import StandIn
from tests.support.waiting import PATIENCE_S

__all__ = ["connection"]

pytestmark = pytest.mark.anyio

HEADERS = {"Authorization": f"Bearer {KEY}"}
CALLS = 3


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_one_call_is_one_post_to_the_service(
    before_standin: Listening, standin: StandIn, connection: Connection, mode: str
) -> None:
    async with asyncio.timeout(PATIENCE_S), before_standin.http() as http:
        ways: dict[str, Callable[[], Client]] = {
            "in this process, as stdio has it": lambda: Client(connection.server(), mode=mode),
            "http": lambda: Client(streamable_http_client(before_standin.url, http_client=http), mode=mode),
            "websocket": lambda: Client(websocket_client(before_standin.urls["websocket"], key=KEY), mode=mode),
            "sse": lambda: Client(sse_client(before_standin.urls["sse"], headers=HEADERS), mode="legacy"),
        }
        for way, client_of in ways.items():
            async with client_of() as client:
                for _ in range(CALLS):
                    await client.call_tool("goto", {"url": "http://x/"})
                posts = [standin.calls.get_nowait() for _ in range(standin.calls.qsize())]
                assert (way, [post.path for post in posts]) == (way, ["/api/browser"] * CALLS)
                assert len({post.headers["x-browse-call"] for post in posts}) == CALLS
                assert {post.headers["x-browse-attempt"] for post in posts} == {"1"}


async def test_http_and_websockets_are_served_at_the_paths_that_settings_name(listen: Listen) -> None:
    paths = {"mcp_path": "/of/agents", "ws_path": "/stream"}
    async with (
        asyncio.timeout(PATIENCE_S),
        listen(transport="http,sse,websocket", **paths) as gateway,
        gateway.http() as http,
    ):
        served = {name: urlsplit(url).path for name, url in gateway.urls.items()}
        assert served == {"http": "/of/agents", "sse": "/sse", "websocket": "/stream"}
        for client in (
            Client(streamable_http_client(gateway.url, http_client=http)),
            Client(websocket_client(gateway.urls["websocket"], key=KEY), mode="legacy"),
        ):
            async with client:
                assert "goto" in {tool.name for tool in (await client.list_tools()).tools}
        refusal = await http.post(
            gateway.url.replace("/of/agents", "/mcp"), json={"jsonrpc": "2.0", "id": 1, "method": "ping"}
        )
        assert refusal.status_code == 404
        assert "MCP is at /of/agents and /sse." in refusal.text
