"""What strangers may not do: read this machine's files, or say two things in one request."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ListRootsResult, Root

from browse_together.contract import requests
from browse_together.contract.requests import BodyLimits
from mcp_gateway.transports import messages
from mcp_gateway.transports.access import HELD, digest
from mcp_gateway.websocket_client import NotConnected, websocket_client
from tests.front.transports.conftest import KEY, OTHER_KEY, Listen, Listening, before
from tests.support.standin import StandIn
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


def address(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


async def answer(host: str, sent: bytes) -> bytes:
    """Return the beginning of what is said to these bytes."""
    name, _, port = host.rpartition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(sent)
    async with asyncio.timeout(PATIENCE_S):
        said = await reader.readuntil(b"\r\n\r\n")
        said += await reader.read(1_000) if b" 101 " not in said else b""
    writer.close()
    return said


async def all_said(host: str, sent: bytes) -> bytes:
    """Return what is said to these bytes, which are the last."""
    reader, writer = await asyncio.open_connection(*host.split(":"))
    writer.write(sent)
    writer.write_eof()
    async with asyncio.timeout(PATIENCE_S):
        said = await reader.read()
    writer.close()
    return said


async def status(host: str, sent: bytes) -> int:
    return int((await answer(host, sent)).split()[1])


@pytest.fixture
async def every(listen: Listen) -> AsyncIterator[Listening]:
    async with listen(transport="http,websocket") as running:
        yield running


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


@pytest.mark.parametrize(
    "twice",
    ["Host", "Origin", "Content-Type", "Content-Length", "Transfer-Encoding", "Authorization", "X-API-Key"],
)
@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_a_header_that_stands_twice_is_refused(every: Listening, transport: str, twice: str) -> None:
    host, body = address(every.urls[transport]), b"{}"
    headers = {
        "Host": host,
        "Origin": f"http://{host}",
        "Content-Type": "application/json",
        "Authorization": f"Bearer {KEY}",
        "X-API-Key": KEY,
        "Content-Length": str(len(body)),
    }
    path = every.urls[transport].partition(host)[2]
    start = f"POST {path} HTTP/1.1"
    if transport == "websocket":
        start, body = f"GET {path} HTTP/1.1", b""
        headers |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        headers |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        headers["Content-Length"] = "0"
    lines = [f"{name}: {value}" for name, value in headers.items()]
    whole = "\r\n".join([start, *lines, "", ""]).encode()
    other = {"Content-Length": "1", "Transfer-Encoding": "chunked"}  # h11 makes two lengths that are alike into one
    value = other.get(twice) or headers[twice]
    again = "\r\n".join([start, *lines, f"{twice}: {value}", "", ""]).encode()
    assert await status(host, whole + body) == (101 if transport == "websocket" else 400)
    if (transport, twice) == ("websocket", "Transfer-Encoding"):  # its parser goes no further, and answers nothing
        assert (await all_said(host, whole)).startswith(b"HTTP/1.1 101")
        assert await all_said(host, again) == b""
        return
    said = await answer(host, again + body)
    assert said.startswith(b"HTTP/1.1 400")
    own = b"Invalid HTTP request" in said or b"multiple values" in said  # the parsers' refusals
    assert own or b"twice" in said or b"in two ways" in said


async def test_a_key_goes_to_another_machine_encrypted_or_not_at_all() -> None:
    with pytest.raises(NotConnected, match="would send the key unencrypted to another machine"):
        async with websocket_client("ws://192.0.2.1:3001/ws", key=KEY):
            pass


@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_a_target_with_another_authority_is_refused(every: Listening, transport: str) -> None:
    host = address(every.urls[transport])
    path = every.urls[transport].partition(host)[2]
    head = f"GET http://evil.example{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {KEY}\r\n"
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    upgrade += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    said = await answer(host, f"{head}{upgrade if transport == 'websocket' else ''}\r\n".encode())
    assert said.startswith(b"HTTP/1.1 400")
    assert b"evil.example" in said


async def test_halves_of_requests_are_counted_together(gateway: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MESSAGES_AT_A_TIME", 1)
    http = address(gateway.url)
    client = digest(KEY)[:24]
    _, writer = await asyncio.open_connection(*http.split(":"))
    writer.write(_head(http, 9_000_000) + b"x" * 8_000_000)
    await become(lambda: HELD.of(client) >= 8_000_000)
    assert await status(http, _head(http, 9_000_000) + b"x" * 8_000_000) == 503
    writer.close()
    await become(lambda: HELD.of(client) == 0)


async def test_a_message_that_does_not_come_is_answered(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "BodyLimits", partial(BodyLimits, within_s=0.2))
    async with listen() as gateway:
        host = address(gateway.url)
        assert await status(host, _head(host, 99) + b"{") == HTTPStatus.GATEWAY_TIMEOUT


APP = "https://app.example.com"


@pytest.mark.parametrize("transport", ["http", "websocket"])
@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        (("Sec-Fetch-Site: none",), b""),
        (("Sec-Fetch-Site: cross-site", f"Origin: {APP}"), b""),
        (("Sec-Fetch-Site: cross-site",), b"403"),
        (("Sec-Fetch-Site: same-site",), b"403"),
        (("Sec-Fetch-Site: same-origin", "Origin: http://HOST"), b"403"),
        (("Sec-Fetch-Site: cross-site", "Origin: https://evil.example"), b"403"),
        ((f"Sec-WebSocket-Protocol: bearer.{OTHER_KEY}",), b"400"),  # which nothing reads but the websocket
    ],
)
async def test_only_pages_that_may_call_and_senders_of_one_key_come_in(
    listen: Listen, transport: str, lines: tuple[str, ...], refused: bytes
) -> None:
    """An agent can also send a page to the gateway's own port, and have a script of it call from what answers there."""
    async with listen(transport="http,websocket", cors_origins=APP) as gateway:
        host = address(gateway.urls[transport])
        given = [line.replace("HOST", host) for line in lines]
        said = await answer(host, _hello(host, *given) if transport == "http" else _handshake(host, *given))
    is_read = transport == "websocket" or not lines[0].startswith("Sec-WebSocket")
    assert said.split()[1] == (refused if refused and is_read else b"200" if transport == "http" else b"101")


async def test_a_body_that_two_programs_may_read_differently_is_refused(gateway: Listening) -> None:
    host = address(gateway.url)
    assert await status(host, _hello(host)) == HTTPStatus.OK
    assert await status(host, _hello(host, "Content-Encoding: gzip")) == HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    chunked = f"{len(HELLO):x}\r\n".encode() + HELLO + b"\r\n0\r\n\r\n"
    head = (
        _hello(host)
        .partition(HELLO)[0]
        .replace(f"Content-Length: {len(HELLO)}".encode(), b"Transfer-Encoding: chunked")
    )
    assert await status(host, head + chunked) == HTTPStatus.OK
    assert await status(host, head.replace(b"HTTP/1.1", b"HTTP/1.0") + chunked) == HTTPStatus.BAD_REQUEST


PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}).encode()


def _hello(host: str, *lines: str) -> bytes:
    accepts = "Accept: application/json, text/event-stream"
    return _head(host, len(HELLO)).removesuffix(b"\r\n") + "\r\n".join([accepts, *lines, "", ""]).encode() + HELLO


def _handshake(host: str, *lines: str) -> bytes:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    proof = ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Authorization: Bearer {KEY}")
    return "\r\n".join(["GET /ws HTTP/1.1", f"Host: {host}", *upgrade, *proof, *lines, "", ""]).encode()


def _head(host: str, length: int) -> bytes:
    """Return the head of a POST whose body has that many bytes."""
    lines = f"Host: {host}\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\nContent-Length: {length}"
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n\r\n".encode()
