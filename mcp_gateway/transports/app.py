"""The paths of the transports, the door before all of them, and the websockets behind it."""

import contextlib
import hashlib
import re
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.types import INVALID_REQUEST, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from browse_together.contract.errors import BrowseError
from browse_together.contract.json_lines.lines import BYTE_ORDER_MARK
from browse_together.contract.requests import Visitors
from browse_together.contract.wire import MCP_SUBPROTOCOL
from mcp_gateway import jsonrpc
from mcp_gateway.connection import Connection
from mcp_gateway.relay import Relay
from mcp_gateway.results import encoded
from mcp_gateway.transports import access
from mcp_gateway.transports.access import LIVES_S, SESSION_PARAMETER, Access, Refused, Tickets
from mcp_gateway.transports.messages import OneMessage
from mcp_gateway.transports.settings import LOOPBACK, MESSAGES_PATH, SSE_PATH, TransportSettings
from mcp_gateway.transports.streamable_http import Connect, StreamableHttp

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
        self._tickets = access.tickets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        session_id = websocket.headers.get(MCP_SESSION_ID_HEADER) or websocket.query_params.get(SESSION_PARAMETER, "")
        if not _SESSION_ID.fullmatch(session_id):
            session_id = uuid4().hex
        subprotocol = MCP_SUBPROTOCOL if MCP_SUBPROTOCOL in scope["subprotocols"] else None
        with self._tickets.used(session_id) if self._tickets else contextlib.nullcontext():
            user: str = scope["user"].username
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
                await self._send(jsonrpc.refusal(invalid.request_id, invalid.error))
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
        paths.append(settings.mcp_path)
        routes += [Route(path, streamable) for path in _with_and_without_slash(settings.mcp_path)]
    if "sse" in settings.transport:
        sse = SseServerTransport(MESSAGES_PATH, max_request_body_size=settings.max_message_bytes)
        paths.append(SSE_PATH)
        # clients try a POST there, and go on after this refusal
        stream = _Sse(sse, connect)
        routes += [Route(path, stream, methods=["GET"]) for path in _with_and_without_slash(SSE_PATH)]
        routes.append(Mount(MESSAGES_PATH, sse.handle_post_message))
    router = Router(routes, redirect_slashes=False, default=_Elsewhere(" and ".join(paths)))
    return _behind_door(OneMessage(router, settings.max_message_bytes), settings, access)


def websocket_app(settings: TransportSettings, connect: Connect, access: Access) -> ASGIApp:
    routes, websockets = list[BaseRoute](), WebSockets(connect, access)
    for path in _with_and_without_slash(settings.ws_path):
        routes.append(WebSocketRoute(path, websockets))
        if access.tickets:
            routes.append(Route(path, SessionMaker(access.tickets), methods=["POST"]))
    elsewhere = _Elsewhere(f"{settings.ws_path}, by websocket")
    return _behind_door(Router(routes, redirect_slashes=False, default=elsewhere), settings, access)


def _with_and_without_slash(path: str) -> list[str]:
    """Return a path in both spellings. A redirect to the other would lead to plain http behind a proxy that ends
    TLS."""
    bare = path.rstrip("/")
    return [bare, f"{bare}/"] if bare else ["/"]


class _Sse:
    """An application that serves the connection of an event stream while that is open."""

    def __init__(self, transport: SseServerTransport, connect: Connect) -> None:
        self._transport, self._connect = transport, connect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._transport.connect_sse(scope, receive, send) as (requests, replies):
            with self._connect(f"mcp:{uuid4().hex}").served() as server:
                await server.run(requests, replies, server.create_initialization_options())


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
