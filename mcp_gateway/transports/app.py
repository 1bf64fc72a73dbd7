"""Says which paths lead to which transport, each behind the same door."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final
from uuid import uuid4

from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway.transports.access import Access, Refused
from mcp_gateway.transports.door import Door, Unambiguous
from mcp_gateway.transports.messages import OneMessage
from mcp_gateway.transports.settings import MESSAGES_PATH, SSE_PATH, TransportSettings
from mcp_gateway.transports.streamable_http import Connect, StreamableHttp
from mcp_gateway.transports.turnstile import Turnstile
from mcp_gateway.transports.websocket import SessionMaker, WebSockets

_METHODS: Final = ("GET", "POST", "DELETE")


class HttpApp:
    """Serves streamable HTTP, and SSE for older clients, on one port."""

    def __init__(self, settings: TransportSettings, connect: Connect, access: Access, port: int) -> None:
        self._connect = connect
        self._streamable = StreamableHttp(connect, access.turnstile)
        self._sse = SseServerTransport(MESSAGES_PATH, max_request_body_size=settings.max_message_bytes)
        routes = list[BaseRoute]()
        if "http" in settings.transport:
            routes.append(Route(settings.mcp_path, self._streamable))
        if "sse" in settings.transport:
            sse = Route(
                SSE_PATH, _Sse(self._sse, connect, access.turnstile), methods=["GET"]
            )  # a client that tries a POST goes on
            routes += [sse, Mount(MESSAGES_PATH, self._sse.handle_post_message)]
        paths = {"http": settings.mcp_path, "sse": SSE_PATH}
        router = Router(routes, default=_Elsewhere([paths[name] for name in paths if name in settings.transport]))
        self.asgi = _behind_door(OneMessage(router, settings.max_message_bytes), settings, access, port)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._streamable.running():
            yield

    def end_streams(self) -> None:
        """End what would never end by itself, because the server is to end."""
        self._streamable.end_streams()


class _Sse:
    def __init__(self, transport: SseServerTransport, connect: Connect, turnstile: Turnstile) -> None:
        self._transport = transport
        self._turnstile = turnstile
        self._connect = connect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the connection of a stream of events for as long as it is open."""
        async with self._transport.connect_sse(scope, receive, send) as (requests, replies):
            async with self._turnstile.passed(scope["user"].username):
                connection = self._connect(f"mcp:{uuid4().hex}")
            await connection.serve(requests, replies)


class _Elsewhere:
    """Refuses a request to a path that is no transport's, and says which are."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    async def __call__(self, scope: Scope, _: Receive, __: Send) -> None:
        path = HTTPConnection(scope).url.path
        raise Refused(404, f"Nothing is served at {path[:200]}; MCP is at {' and '.join(self._paths)}.")


def websocket_app(settings: TransportSettings, connect: Connect, access: Access, port: int) -> ASGIApp:
    sockets = WebSockets(connect, access, settings.max_message_bytes)
    routes = list[BaseRoute]([WebSocketRoute(settings.ws_path, sockets)])
    if access.tickets:
        routes.append(Route(settings.ws_path, SessionMaker(access.tickets), methods=["POST"]))
    router = Router(routes, default=_Elsewhere([f"{settings.ws_path}, by websocket"]))
    return _behind_door(router, settings, access, port)


def _behind_door(app: ASGIApp, settings: TransportSettings, access: Access, port: int) -> ASGIApp:
    behind_door = CORSMiddleware(
        Door(app, settings, port, access),
        allow_origins=settings.cors_origins,
        allow_methods=_METHODS,
        allow_headers=("*",),
        expose_headers=(MCP_SESSION_ID_HEADER,),
    )
    return Unambiguous(behind_door)
