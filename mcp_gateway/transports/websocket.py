"""A websocket carries one connection, each message in a text frame of its own; a client that was cut off may return."""

import contextlib
import hashlib
import re
from typing import Final
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_gateway import jsonrpc
from mcp_gateway.connection import Connection
from mcp_gateway.errors import encoded
from mcp_gateway.transports.access import SESSION_PARAMETER, Access
from mcp_gateway.transports.protocols import CUT
from mcp_gateway.transports.streamable_http import Connect
from mcp_gateway.transports.tickets import LIVES_S, Tickets
from shared.wire import MCP_SUBPROTOCOL

_SESSION_ID: Final = re.compile(r"[0-9a-f]{32}")
_CLOSED: Final = (WebSocketDisconnect, RuntimeError)
"""Starlette's ways to say that the other side has gone; the second is what it raises for sending after that."""
_ENDED: Final = frozenset({1000, 1001})
"""The codes by which a client says that it will not return."""
_MOST_UNANSWERED: Final = 256
"""Requests of one client at a time, because each takes memory until its reply is sent."""


class WebSockets:
    """An ASGI application behind a door, which serves one connection for each websocket.

    The reply to the handshake names a session in its `Mcp-Session-Id` header. A client that connects again with it, as
    a header or as `?session=`, is the same client of the service: its pages are still its own.
    """

    def __init__(self, connect: Connect, access: Access, max_message_bytes: int) -> None:
        self._connect = connect
        self._tickets = access.tickets
        self._turnstile = access.turnstile
        self._max_message_bytes = max_message_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        session_id = websocket.headers.get(MCP_SESSION_ID_HEADER) or websocket.query_params.get(SESSION_PARAMETER, "")
        if not _SESSION_ID.fullmatch(session_id):
            session_id = uuid4().hex
        subprotocol = MCP_SUBPROTOCOL if MCP_SUBPROTOCOL in scope["subprotocols"] else None
        with self._tickets.used(session_id) if self._tickets else contextlib.nullcontext():
            user: str = scope["user"].username
            async with self._turnstile.passed(user):
                await websocket.accept(subprotocol, [(MCP_SESSION_ID_HEADER.encode(), session_id.encode())])
                client = hashlib.sha256(f"{user}:{session_id}".encode()).hexdigest()[:24]
                connection = self._connect(f"mcp:{client}")
            await _Wire(websocket, self._max_message_bytes).serve(connection)


class SessionMaker:
    """Answers a POST that has the key with a session, by which a web page's websocket is let in."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = {"session": self._tickets.make(scope["user"].username), "expiresInMs": round(LIVES_S * 1_000)}
        await JSONResponse(session, headers={"Cache-Control": "no-store"})(scope, receive, send)


class _Wire:
    def __init__(self, websocket: WebSocket, max_message_bytes: int) -> None:
        self._websocket = websocket
        self._max_message_bytes = max_message_bytes
        self._unanswered = set[object]()

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until the websocket is closed."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_requests, to_server, connection)
            tasks.start_soon(self._pass_replies, from_server)
            await connection.serve(requests, replies)

    async def _pass_requests(
        self, to_server: MemoryObjectSendStream[SessionMessage | Exception], connection: Connection
    ) -> None:
        """Pass messages on until the client closes. What is no message is answered, and passed over."""
        async with to_server:
            while (frame := await self._websocket.receive())["type"] != "websocket.disconnect":
                try:
                    message = self._parse(frame)
                    parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                except jsonrpc.InvalidMessage as invalid:
                    await self._send(jsonrpc.response(invalid.request_id, error=invalid.error))
                except ValidationError:  # a malformed reply, which nobody waits for: wrong requests were refused
                    continue
                else:
                    await to_server.send(SessionMessage(parsed))
            if frame.get("code") not in _ENDED:
                connection.chats.lose()

    def _parse(self, frame: Message) -> jsonrpc.Message:
        text: bytes = frame["bytes"]
        if frame[CUT]:
            raise jsonrpc.too_large(text, self._max_message_bytes)
        message = jsonrpc.parse(text)
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": str() | int() as request_id}}:
                self._unanswered.discard(request_id)  # nothing answers it
            case {"method": str(), "id": request_id}:
                if len(self._unanswered) >= _MOST_UNANSWERED:
                    reason = f"{_MOST_UNANSWERED} requests wait for their replies already; send this one later"
                    raise jsonrpc.InvalidMessage(jsonrpc.INVALID_REQUEST, reason, request_id)
                self._unanswered.add(request_id)
        return message

    async def _pass_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(item.message.id)
                await self._send(encoded(item.message))

    async def _send(self, text: bytes) -> None:
        """Send a message. One for a client that has gone is dropped."""
        with contextlib.suppress(*_CLOSED):
            await self._websocket.send_text(text.decode())
