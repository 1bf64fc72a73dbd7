"""The paths of the transports, and the door before all of them."""

import re
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.types import INVALID_REQUEST
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway import jsonrpc
from mcp_gateway.transports import access
from mcp_gateway.transports.access import Access, Refused
from mcp_gateway.transports.messages import OneMessage
from mcp_gateway.transports.settings import LOOPBACK, MCP_PATH, MESSAGES_PATH, SSE_PATH, WS_PATH, TransportSettings
from mcp_gateway.transports.streamable_http import Connect, StreamableHttp
from mcp_gateway.transports.websocket import SessionMaker, WebSockets
from shared.errors import BrowseError
from shared.requests import Visitors

_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:@/?#\\\s]+)(:[0-9]{1,5})?")
_HINT: Final = "--allowed-hosts names further hosts, and --cors-origins the web pages that may call."


def visitors(settings: TransportSettings) -> Visitors:
    """Return the names under which this host may be called, and the web pages that may call it."""
    local = LOOPBACK if settings.is_loopback or settings.is_everywhere else ()
    names = {name.strip("[]").lower() for name in (*local, settings.mcp_host, *settings.allowed_hosts)}
    knows_host = lambda host: not names.isdisjoint({host.lower(), _name(host)})  # noqa: E731 - one expression
    return Visitors(knows_host, _HINT, settings.cors_origins, own_pages=False)


def _name(host: str) -> str:
    """Return the name in a Host header, without the port; empty if there is none."""
    try:
        return urlsplit(f"//{host}").hostname or "" if _HOST.fullmatch(host) else ""
    except ValueError:
        return ""


class Door:
    """An application that gets only permitted requests, with their client as `scope["user"]`."""

    def __init__(self, app: ASGIApp, settings: TransportSettings, known: access.Access) -> None:
        self._app = app
        self._access = known
        self._visitors = visitors(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._visitors.check(scope)
            with self._access.entered(HTTPConnection(scope)) as client:
                scope["user"] = AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))
                await self._app(scope, receive, send)
        except access.Refused as refused:
            refusal = _refusal(refused.status, refused.reason, refused.headers)
            await refusal(scope, receive, send)
        except BrowseError as error:
            refusal = _refusal(error.status, f"Invalid Request: {error.message} {error.advice or ''}".rstrip())
            await refusal(scope, receive, send)
        except jsonrpc.InvalidMessage as invalid:
            body = {"jsonrpc": "2.0", "id": invalid.request_id, "error": invalid.error}
            await JSONResponse(body, 400)(scope, receive, send)


def _refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return an answer that an MCP client can read, and so can a person with curl. It closes a websocket before that
    opens."""
    error = {"code": INVALID_REQUEST, "message": reason}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status, headers)


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
