"""Carries messages between a host and a connection, on any wire that is not the SDK's own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from mcp_gateway.connection import Connection

_LAST_REPLIES_WITHIN_S: Final = 0.4
_MOST_UNANSWERED: Final = 256
"""The most unanswered requests of one host, because each takes memory until its reply is sent."""


class Host(Protocol):
    """The other end of a connection."""

    def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield the host's messages until it closes."""

    async def send(self, message: JSONRPCMessage) -> None:
        """Send a message to the host, as soon as it can read."""


class Relay:
    """The transfer between a host and the streams of a connection."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._unanswered = set[object]()
        self._replied = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until its host closes."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_requests, to_server)
            tasks.start_soon(self._pass_replies, from_server)
            with connection.served() as server:
                await server.run(requests, replies, server.create_initialization_options())

    async def _pass_requests(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass requests on until the host closes. Then wait a moment for the last replies, because piped requests end
        with the pipe."""
        async with to_server:
            async for message in self._host.messages():
                if isinstance(message, JSONRPCRequest):
                    if len(self._unanswered) >= _MOST_UNANSWERED:
                        await self._host.send(_too_many(message))
                        continue
                    self._unanswered.add(message.id)
                elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                    self._unanswered.discard((message.params or {}).get("requestId"))  # no answers were sent
                await to_server.send(SessionMessage(message))
            with anyio.move_on_after(_LAST_REPLIES_WITHIN_S):
                while self._unanswered:
                    self._replied.clear()
                    await self._replied.wait()

    async def _pass_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(item.message.id)
                    self._replied.set()
                await self._host.send(item.message)


def _too_many(request: JSONRPCRequest) -> JSONRPCError:
    reason = f"{_MOST_UNANSWERED} requests wait for their replies already; send this one later"
    return JSONRPCError(jsonrpc="2.0", id=request.id, error=ErrorData(code=INVALID_REQUEST, message=reason))
