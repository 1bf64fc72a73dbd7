"""Tests that the early server's replies are the SDK's, only earlier."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import BinaryIO

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import JsonValue

from mcp_gateway.connection import Connection
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.descriptors import Descriptors
from mcp_gateway.stdio.early import HANDSHAKE_VERSIONS, EarlyServer
from mcp_gateway.tools import listed_tools
from tests.support.chat import CLIENT, MODERN, Chat
from tests.support.gateway_fixtures import connection_to

pytestmark = pytest.mark.anyio

Json = dict[str, JsonValue]


class Client:
    """Represents the other end of an early server, in this process and with no SDK behind it."""

    def __init__(self, resources: ExitStack) -> None:
        (incoming, to_server), (from_server, outgoing) = os.pipe(), os.pipe()
        self.ended = threading.Event()
        self.server = EarlyServer(Descriptors(incoming, outgoing), on_end=self.ended.set)
        self.server.begin()
        self.requests: BinaryIO = resources.enter_context(os.fdopen(to_server, "wb"))
        self.replies: BinaryIO = resources.enter_context(os.fdopen(from_server, "rb"))
        resources.callback(os.close, outgoing)

    def send(self, request_id: int, method: str, params: Json | None = None) -> None:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method} | ({"params": params} if params else {})
        self.requests.write(json.dumps(message).encode() + b"\n")
        self.requests.flush()

    def receive(self) -> Json:
        message = json.loads(self.replies.readline())
        assert isinstance(message, dict)
        return message

    def end(self) -> None:
        self.requests.close()
        assert self.ended.wait(10)


@pytest.fixture
def client() -> Iterator[Client]:
    with ExitStack() as resources:
        yield Client(resources)


def handshake(version: str) -> Json:
    return {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": CLIENT}


async def sdk_replies(connection: Connection, *requests: tuple[str, Json | None]) -> list[Json]:
    """Return what the SDK's server answers by itself, as it stands on the wire."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](9)
    server, replies = connection.server(), []
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks, to_server, from_server:
            tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
            for number, (method, params) in enumerate(requests):
                request = JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
                await to_server.send(SessionMessage(request))
                reply = (await from_server.receive()).message
                assert isinstance(reply, JSONRPCResponse | JSONRPCError)
                replies.append(json.loads(reply.model_dump_json(by_alias=True, exclude_unset=True)))
            to_server.close()
    return replies


def test_the_early_server_knows_the_handshakes_that_the_sdk_knows() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert HANDSHAKE_VERSIONS[-1] == LATEST_HANDSHAKE_VERSION


@pytest.mark.parametrize("toolsets", ["core", "all"])
@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "2099-01-01", "nonsense"])
async def test_the_early_server_answers_what_the_sdk_would(
    connection: Connection, client: Client, version: str, toolsets: str
) -> None:
    settings = connection.settings.model_copy(update={"toolsets": frozenset({toolsets})})
    client.server.offer(listed_tools(settings.toolsets))
    requests: list[tuple[str, Json | None]] = [
        ("initialize", handshake(version)),
        ("ping", None),
        ("tools/list", None),
    ]
    answers = []
    for number, (method, params) in enumerate(requests):
        client.send(number, method, params)
        answers.append(client.receive())
    assert answers == await sdk_replies(connection_to(settings), *requests)


def test_a_list_that_is_asked_for_early_is_answered_as_soon_as_it_is_there(client: Client) -> None:
    client.send(1, "initialize", handshake("2025-11-25"))
    assert client.receive()["id"] == 1
    client.send(2, "tools/list")
    client.send(3, "ping")
    assert client.receive() == {"jsonrpc": "2.0", "id": 3, "result": {}}
    client.server.offer([{"name": "one"}])
    assert client.receive() == {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "one"}]}}


@pytest.mark.parametrize(
    "requests",
    [
        [("tools/list", None)],
        [("tools/list", {"_meta": MODERN}), ("ping", None), ("initialize", handshake("2025-11-25"))],
        [("server/discover", {"_meta": MODERN}), ("initialize", handshake("2025-11-25"))],
        [("initialize", {"protocolVersion": "2025-11-25"}), ("tools/list", None)],
        [("initialize", handshake("2025-11-25") | {"_meta": {}})],
        [("initialize", handshake("2025-11-25") | {"capabilities": {"roots": 1}})],
        [("initialize", handshake("2025-11-25") | {"clientInfo": {"name": "x"}})],
        [("ping", {"_meta": MODERN})],
        [("tools/call", {"name": "goto"})],
    ],
)
def test_what_is_in_doubt_waits_for_the_sdk(client: Client, requests: list[tuple[str, Json | None]]) -> None:
    client.server.offer([{"name": "one"}])
    for number, (method, params) in enumerate(requests):
        client.send(number, method, params)
    client.end()
    assert client.server.answered == set()


def test_the_list_waits_for_the_sdk_when_it_carries_a_cursor_or_an_envelope(client: Client) -> None:
    client.server.offer([{"name": "one"}])
    client.send(1, "initialize", handshake("2025-11-25"))
    client.send(2, "tools/list", {"cursor": "x"})
    client.send(3, "tools/list", {"_meta": MODERN})
    client.send(4, "initialize", handshake("2025-11-25"))
    client.end()
    assert client.server.answered == {1}


def test_all_that_came_is_handed_over_in_order_with_what_comes_later(client: Client) -> None:
    client.send(1, "initialize", handshake("2025-11-25"))
    client.receive()
    taken: list[Message | None] = []
    client.server.hand_over(taken.append)
    client.send(2, "ping")
    client.end()
    assert [message["method"] for message in taken if message] == ["initialize", "ping"]


async def test_each_request_of_a_connection_is_answered_once_across_the_handing_over(
    chat: Callable[..., AbstractAsyncContextManager[Chat]],
) -> None:
    async with chat() as client:
        handshook = await client.initialize()
        assert handshook["result"]
        listing = await client.ask("tools/list")
        await client.call("list_pages")  # which only the SDK can answer: it has taken over, and says nothing twice
        again = await client.ask("tools/list")
        assert again["result"] == listing["result"]
