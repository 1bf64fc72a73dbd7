"""Serves websockets: one connection for each, and one message per text frame. A client that was cut off may return."""

import contextlib
import hashlib
import re
from collections.abc import AsyncIterator
from typing import Final
from uuid import uuid4

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_gateway import jsonrpc
from mcp_gateway.connection import Connection
from mcp_gateway.relay import Relay
from mcp_gateway.results import encoded
from mcp_gateway.transports.access import LIVES_S, SESSION_PARAMETER, Access, Tickets
from mcp_gateway.transports.streamable_http import Connect
from shared.json_lines.lines import BYTE_ORDER_MARK
from shared.wire import MCP_SUBPROTOCOL

_SESSION_ID: Final = re.compile(r"[0-9a-f]{32}")
_CLOSED: Final = (WebSocketDisconnect, RuntimeError)
"""Starlette's errors if the other side is gone; the second is for sending after that."""
_ENDED: Final = frozenset({1000, 1001})
"""Close codes of clients that will not return."""


class WebSockets:
    """An ASGI application behind a door that serves one connection for each websocket.

    The handshake's reply names a session in its `Mcp-Session-Id` header. A client that reconnects with it, as a header
    or as `?session=`, is the same client of the service and keeps its pages.
    """

    def __init__(self, connect: Connect, access: Access) -> None:
        self._connect = connect
        self._tickets, self._turnstile = access.tickets, access.turnstile

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
            await Relay(_Host(websocket, connection)).serve(connection)


class SessionMaker:
    """An application that answers a POST with a session, which lets a web page's websocket in."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = {"session": self._tickets.make(scope["user"].username), "expiresInMs": round(LIVES_S * 1_000)}
        await JSONResponse(session, headers={"Cache-Control": "no-store"})(scope, receive, send)


class _Host:
    def __init__(self, websocket: WebSocket, connection: Connection) -> None:
        self._websocket, self._connection = websocket, connection

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield messages until the client closes. Invalid ones get an error and are skipped."""
        while (frame := await self._websocket.receive())["type"] != "websocket.disconnect":
            text = frame.get("bytes") or (frame.get("text") or "").encode()
            try:
                message = jsonrpc.parse(text.removeprefix(BYTE_ORDER_MARK))
                yield jsonrpc_message_adapter.validate_python(message, by_name=False)
            except jsonrpc.InvalidMessage as invalid:
                await self._send(jsonrpc.response(invalid.request_id, error=invalid.error))
            except ValidationError:  # a malformed reply that nothing waits for: wrong requests were refused
                continue
        if frame.get("code") not in _ENDED:
            self._connection.chats.lose()

    async def send(self, message: JSONRPCMessage) -> None:
        await self._send(encoded(message))

    async def _send(self, text: bytes) -> None:
        """Send a message. If the client is gone, drop it."""
        with contextlib.suppress(*_CLOSED):
            await self._websocket.send_text(text.decode())
