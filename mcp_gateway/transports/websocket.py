"""A websocket carries one connection, each message in a text frame of its own; a client that was cut off may return."""

import hashlib
import re
from typing import Final
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_gateway import jsonrpc
from mcp_gateway.connection import Connection
from mcp_gateway.errors import encoded
from mcp_gateway.transports.streamable_http import Connect

SUBPROTOCOL: Final = "mcp"
_SESSION_ID: Final = re.compile(r"[0-9a-f]{32}")
_CLOSED: Final = (WebSocketDisconnect, RuntimeError)
"""Starlette's ways to say that the other side has gone; the second is what it raises for sending after that."""


class WebSockets:
    """An ASGI application behind a door, which serves one connection for each websocket.

    The reply to the handshake names a session in its `Mcp-Session-Id` header. A client that connects again with it, as
    a header or as `?session=`, is the same client of the service: its pages are still its own.
    """

    def __init__(self, connect: Connect, max_message_bytes: int) -> None:
        self._connect = connect
        self._max_message_bytes = max_message_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        session_id = websocket.headers.get(MCP_SESSION_ID_HEADER) or websocket.query_params.get("session", "")
        if not _SESSION_ID.fullmatch(session_id):
            session_id = uuid4().hex
        subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
        await websocket.accept(subprotocol, [(MCP_SESSION_ID_HEADER.encode(), session_id.encode())])
        client = hashlib.sha256(f"{scope['user'].username}:{session_id}".encode()).hexdigest()[:24]
        await _Wire(websocket, self._max_message_bytes).serve(self._connect(f"mcp:{client}"))


class _Wire:
    def __init__(self, websocket: WebSocket, max_message_bytes: int) -> None:
        self._websocket = websocket
        self._max_message_bytes = max_message_bytes

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until the websocket is closed."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_requests, to_server)
            tasks.start_soon(self._pass_replies, from_server)
            await connection.serve(requests, replies)

    async def _pass_requests(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass messages on until the client closes. What is no message is answered, and passed over."""
        async with to_server:
            while (text := await self._receive()) is not None:
                try:
                    message = jsonrpc_message_adapter.validate_python(self._parse(text), by_name=False)
                except jsonrpc.InvalidMessage as invalid:
                    await self._send(jsonrpc.response(invalid.request_id, error=invalid.error))
                except ValidationError:  # a malformed reply, which nobody waits for: wrong requests were refused
                    continue
                else:
                    await to_server.send(SessionMessage(message))

    def _parse(self, text: bytes) -> jsonrpc.Message:
        if len(text) > self._max_message_bytes:
            reason = f"Invalid Request: a message has at most {self._max_message_bytes} bytes"
            raise jsonrpc.InvalidMessage(jsonrpc.INVALID_REQUEST, reason)
        return jsonrpc.parse(text)

    async def _pass_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                await self._send(encoded(item.message))

    async def _receive(self) -> bytes | None:
        """Return the next message; None when the websocket is closed."""
        frame = await self._websocket.receive()
        if frame["type"] == "websocket.disconnect":
            return None
        text: str | None = frame.get("text")
        return text.encode() if text is not None else frame.get("bytes") or b""

    async def _send(self, text: bytes) -> None:
        """Send a message. One for a client that has gone is dropped."""
        try:
            await self._websocket.send_text(text.decode())
        except _CLOSED:
            return
