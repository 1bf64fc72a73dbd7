"""Tests that a launcher's own replies are the SDK's, only earlier."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import JsonValue

from browse_together.contract.instructions import INSTRUCTIONS
from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.toolsets import NAMES
from mcp_gateway import jsonrpc
from mcp_gateway.cards import EXTENSION, MIME_TYPE
from mcp_gateway.connection import Connection
from mcp_gateway.jsonrpc import Message
from mcp_gateway.results import encoded
from mcp_gateway.settings import Settings
from mcp_gateway.startup import prepare
from mcp_gateway.stdio.early import HANDSHAKE_VERSIONS, EarlyReplies
from mcp_gateway.stdio.foreseen import foresee
from mcp_gateway.stdio.launcher import Launcher
from mcp_gateway.tools import listed_tools
from tests.support.chat import CLIENT, MODERN, Chat
from tests.support.gateway_fixtures import connection_to
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

Json = dict[str, JsonValue]
TOOLS: list[Message] = [{"name": "one"}]


def early(tools: Sequence[Message] = TOOLS) -> EarlyReplies:
    return EarlyReplies(INSTRUCTIONS, lambda: tools)


def request(number: int, method: str, params: Json | None) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {})


def answered(replies: EarlyReplies, *requests: tuple[str, Json | None]) -> list[int]:
    """Return which of these requests are answered early, by their numbers."""
    results = [replies.result(request(number, *each)) for number, each in enumerate(requests)]
    return [number for number, result in enumerate(results) if result is not None]


def handshake(version: str) -> Json:
    return {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": CLIENT}


async def sdk_replies(connection: Connection, *requests: tuple[str, Json | None]) -> list[bytes]:
    """Return what the SDK's server answers by itself, as it stands on the wire."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](9)
    server, replies = connection.server(), []
    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks, to_server, from_server:
            tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
            for number, (method, params) in enumerate(requests):
                request = JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
                await to_server.send(SessionMessage(request))
                reply = (await from_server.receive()).message
                assert isinstance(reply, JSONRPCResponse | JSONRPCError)
                replies.append(encoded(reply))
            to_server.close()
    return replies


def test_the_early_server_knows_the_handshakes_that_the_sdk_knows() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert HANDSHAKE_VERSIONS[-1] == LATEST_HANDSHAKE_VERSION


async def early_and_later(settings: Settings, early: EarlyReplies, hello: Json, instructions: str) -> None:
    """Assert that the early replies to a handshake, a ping and a list are the SDK's, byte for byte."""
    requests: list[tuple[str, Json | None]] = [("initialize", hello), ("ping", None), ("tools/list", None)]
    results = [early.result(request(number, *each)) for number, each in enumerate(requests)]
    answers = [jsonrpc.answer(number, result) for number, result in enumerate(results) if result is not None]
    connection = connection_to(settings)
    connection.instructions = instructions
    assert answers == await sdk_replies(connection, *requests)


@pytest.mark.parametrize("toolsets", ["core", "all"])
@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "2099-01-01", "nonsense"])
async def test_the_early_replies_are_what_the_sdk_would_say(
    connection: Connection, version: str, toolsets: str
) -> None:
    settings = connection.settings.model_copy(update={"toolsets": frozenset({toolsets})})
    replies = early(listed_tools(settings.toolsets))
    await early_and_later(settings, replies, handshake(version), INSTRUCTIONS)


SETTINGS = [
    *({"BROWSE_TOOLSETS": name} for name in NAMES),
    *({"BROWSE_TOOLSETS": names} for names in ("network,core", "all, seven", "seven hands", "dialogs,medai", "mediä")),
    *({"BROWSE_SESSION": "new"}, {"BROWSE_RESOURCES": "none"}, {"BROWSE_STRUCTURED": "true"}),
    *({"BROWSE_CLIENT_ID": "claude"}, {"BROWSE_TOKEN": "none.of.ours"}, {"browse_toolsets": "help"}, {}),
]
"""Those that change what a chat is told first, and some of those that do not."""


@pytest.mark.parametrize("given", SETTINGS, ids=str)
@pytest.mark.parametrize(
    "capabilities", [{}, {"extensions": {EXTENSION: {"mimeTypes": [MIME_TYPE]}}}], ids=["", "cards"]
)
async def test_what_is_foreseen_of_settings_is_what_the_sdk_says_once_they_are_read(
    connection: Connection, given: dict[str, str], capabilities: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    hello = handshake("2025-11-25") | {"capabilities": capabilities}
    seen, prepared = foresee({}, os.environ), prepare()
    if seen is None:
        assert "BROWSE_TOKEN" in given
        return
    settings = connection.settings.model_copy(update={"toolsets": prepared.settings.toolsets})
    await early_and_later(settings, EarlyReplies(seen.instructions, seen.tools), hello, prepared.instructions)


def test_a_list_that_is_asked_for_early_is_answered_as_soon_as_it_is_there() -> None:
    (incoming, to_launcher), (from_launcher, outgoing) = os.pipe(), os.pipe()
    launcher = Launcher(Lines(incoming, outgoing), EarlyReplies(INSTRUCTIONS, lambda: None), [], {})
    launcher.begin()
    for number, each in enumerate([("initialize", handshake("2025-11-25")), ("tools/list", None), ("ping", None)]):
        os.write(to_launcher, jsonrpc.encoded(request(number, *each)) + b"\n")
    with os.fdopen(from_launcher, "rb") as replies:
        assert [json.loads(replies.readline())["id"] for _ in range(2)] == [0, 2]
        launcher.offer(TOOLS, INSTRUCTIONS)
        assert json.loads(replies.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}}


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
def test_what_is_in_doubt_waits_for_the_sdk(requests: list[tuple[str, Json | None]]) -> None:
    assert answered(early(), *requests) == []


def test_the_list_waits_for_the_sdk_when_it_carries_a_cursor_or_an_envelope() -> None:
    hello = ("initialize", handshake("2025-11-25"))
    assert answered(early(), hello, ("tools/list", {"cursor": "x"}), ("tools/list", {"_meta": MODERN}), hello) == [0]


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
