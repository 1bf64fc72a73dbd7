"""The paths of the transports, all behind the same door."""

from typing import Final
from uuid import uuid4

from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway.transports.access import Access, Refused
from mcp_gateway.transports.door import Door
from mcp_gateway.transports.messages import OneMessage
from mcp_gateway.transports.settings import MCP_PATH, MESSAGES_PATH, SSE_PATH, WS_PATH, TransportSettings
from mcp_gateway.transports.streamable_http import Connect, StreamableHttp
from mcp_gateway.transports.websocket import SessionMaker, WebSockets

_METHODS: Final = ("GET", "POST", "DELETE")


def http_app(settings: TransportSettings, connect: Connect, access: Access, streamable: StreamableHttp) -> ASGIApp:
    """Return the application that serves streamable HTTP, and SSE for older clients, on one port."""
    paths, routes = list[str](), list[BaseRoute]()
    if "http" in settings.transport:
        paths.append(MCP_PATH)
        routes.append(Route(MCP_PATH, streamable))
    if "sse" in settings.transport:
        sse = SseServerTransport(MESSAGES_PATH, max_request_body_size=settings.max_message_bytes)
        paths.append(SSE_PATH)
        # clients try a POST there, and go on after this refusal
        routes.append(Route(SSE_PATH, _Sse(sse, connect, access), methods=["GET"]))
        routes.append(Mount(MESSAGES_PATH, sse.handle_post_message))
    router = Router(routes, default=_Elsewhere(" and ".join(paths)))
    return _behind_door(OneMessage(router, settings.max_message_bytes), settings, access)


def websocket_app(settings: TransportSettings, connect: Connect, access: Access) -> ASGIApp:
    routes = list[BaseRoute]([WebSocketRoute(WS_PATH, WebSockets(connect, access))])
    if access.tickets:
        routes.append(Route(WS_PATH, SessionMaker(access.tickets), methods=["POST"]))
    return _behind_door(Router(routes, default=_Elsewhere(f"{WS_PATH}, by websocket")), settings, access)


class _Sse:
    """An application that serves the connection of an event stream while that is open."""

    def __init__(self, transport: SseServerTransport, connect: Connect, access: Access) -> None:
        self._transport, self._connect, self._turnstile = transport, connect, access.turnstile

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._transport.connect_sse(scope, receive, send) as (requests, replies):
            async with self._turnstile.passed(scope["user"].username):
                connection = self._connect(f"mcp:{uuid4().hex}")
            await connection.serve(requests, replies)


class _Elsewhere:
    """A refusal of other paths that names the transports' paths."""

    def __init__(self, paths: str) -> None:
        self._paths = paths

    async def __call__(self, scope: Scope, _: Receive, __: Send) -> None:
        raise Refused(404, f"Nothing is served at {HTTPConnection(scope).url.path[:200]}; MCP is at {self._paths}.")


def _behind_door(app: ASGIApp, settings: TransportSettings, access: Access) -> ASGIApp:
    return CORSMiddleware(
        Door(app, settings, access),
        allow_origins=settings.cors_origins,
        allow_methods=_METHODS,
        allow_headers=("*",),
        expose_headers=(MCP_SESSION_ID_HEADER,),
    )
