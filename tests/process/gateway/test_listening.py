"""Tests the process of a gateway that listens: it says where, answers there, and ends when it is told to."""

import asyncio
import signal
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from mcp_gateway.websocket_client import websocket_client
from tests.support.listening_gateway import addresses, gateway_process
from tests.support.standin import StandIn
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

KEY = "a-key-of-sufficiently-many-characters"


async def heard(client: Client) -> str:
    result = await client.call_tool("list_pages", {})
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def test_http_and_websockets_are_served_until_the_process_is_told_to_end(
    standin: StandIn, data_dir: Path
) -> None:
    flags = ("--transport", "http,websocket", "--port", "0", "--ws-port", "0", "--url", standin.url)
    async with (
        asyncio.timeout(PATIENCE_S),
        gateway_process(*flags, BROWSE_DATA_DIR=str(data_dir), AUTH_SECRET=KEY) as process,
    ):
        http_url, websocket_url = await addresses(process, "http", "websocket")
        headers = {"Authorization": f"Bearer {KEY}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(streamable_http_client(http_url, http_client=http), mode="legacy") as by_http,
            Client(websocket_client(websocket_url, key=KEY), mode="legacy") as by_websocket,
        ):
            assert "list_pages" in await heard(by_http)
            assert "list_pages" in await heard(by_websocket)
            process.send_signal(signal.SIGTERM)
            output, errors = await process.communicate()
        assert (process.returncode, output) == (0, b"")
        assert b"Traceback" not in errors
