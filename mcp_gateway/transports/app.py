"""Says which paths lead to which transport, each behind the same door."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway.transports.access import Access
from mcp_gateway.transports.door import Door
from mcp_gateway.transports.settings import TransportSettings
from mcp_gateway.transports.streamable_http import Connect, StreamableHttp
from mcp_gateway.transports.websocket import WebSockets

SSE_PATH: Final = "/sse"
_MESSAGES_PATH: Final = "/messages/"


class HttpApp:
    """Serves streamable HTTP, and SSE for older clients, on one port."""

    def __init__(self, settings: TransportSettings, connect: Connect, access: Access, port: int) -> None:
        self._connect = connect
        self._streamable = StreamableHttp(connect)
        self._sse = SseServerTransport(_MESSAGES_PATH, max_request_body_size=settings.max_message_bytes)
        routes: list[BaseRoute] = []
        if "http" in settings.transport:
            routes.append(Route(settings.mcp_path, self._streamable))
        if "sse" in settings.transport:
            routes += [Route(SSE_PATH, _Sse(self._sse, connect)), Mount(_MESSAGES_PATH, self._sse.handle_post_message)]
        self.asgi = _behind_door(routes, settings, access, port)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._streamable.running():
            yield


class _Sse:
    def __init__(self, transport: SseServerTransport, connect: Connect) -> None:
        self._transport = transport
        self._connect = connect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the connection of a stream of events for as long as it is open."""
        async with self._transport.connect_sse(scope, receive, send) as (requests, replies):
            await self._connect("").serve(requests, replies)


def websocket_app(settings: TransportSettings, connect: Connect, access: Access, port: int) -> ASGIApp:
    sockets = WebSockets(connect, settings.max_message_bytes)
    return _behind_door([WebSocketRoute(settings.ws_path, sockets)], settings, access, port)


def _behind_door(routes: list[BaseRoute], settings: TransportSettings, access: Access, port: int) -> ASGIApp:
    return CORSMiddleware(
        Door(Router(routes=routes), settings, port, access),
        allow_origins=settings.cors_origins,
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=("*",),
        expose_headers=(MCP_SESSION_ID_HEADER,),
    )
