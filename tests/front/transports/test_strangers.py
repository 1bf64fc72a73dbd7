"""What strangers may not do: read this machine's files, or keep a connection open with half a request."""

import asyncio
from pathlib import Path

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ListRootsResult, Root

from mcp_gateway.transports import messages, protocols
from tests.front.transports.conftest import KEY, Listening, before
from tests.support.standin import StandIn

pytestmark = pytest.mark.anyio

PATIENCE_S = 20


async def test_a_client_that_may_be_elsewhere_names_no_files_of_this_machine(
    standin: StandIn, data_dir: Path, tmp_path: Path
) -> None:
    asked = list[str]()

    async def roots(context: ClientRequestContext) -> ListRootsResult:  # noqa: ARG001 - the SDK gives it
        asked.append("for its roots")
        return ListRootsResult(roots=[Root(uri=tmp_path.as_uri())])

    async with (
        asyncio.timeout(PATIENCE_S),
        before(standin.url, data_dir, tmp_path / "keys", allowed_hosts="mcp.example.com") as gateway,
        gateway.http() as http,
        Client(
            streamable_http_client(gateway.url, http_client=http), mode="legacy", list_roots_callback=roots
        ) as client,
    ):
        files = [{"path": str(tmp_path / "keys")}]
        await client.call_tool("upload_file", {"selector": "#one", "files": files})
        assert (await standin.call()).body["files"] == files
    assert asked == []


async def test_half_a_request_does_not_hold_a_connection(gateway: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "HEAD_WITHIN_S", 0.2)
    monkeypatch.setattr(messages, "BODY_WITHIN_S", 0.2)
    host, port = gateway.url.removeprefix("http://").partition("/")[0].split(":")
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 99\r\n\r\n"
    async with asyncio.timeout(PATIENCE_S):
        for half, answer in ((b"", b""), (b"POST /mcp HT", b""), (head.encode() + b"{", b"HTTP/1.1 408 ")):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(half)
            assert (await reader.read(100)).startswith(answer)
            if answer:
                writer.write(b" ")  # which would keep it open
            while await reader.read(1_000):
                continue
            writer.close()
