"""Every request to a network transport comes through one door: its host and origin, its key, its size and its form."""

import asyncio
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.types import INVALID_REQUEST
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_gateway import jsonrpc
from mcp_gateway.transports import access
from mcp_gateway.transports.settings import LOOPBACK, TransportSettings

_BODY_WITHIN_S: Final = 30.0


def security(settings: TransportSettings, port: int) -> TransportSecuritySettings:
    """Return the names by which this host may be called, and the web pages that may call it."""
    names = {*(LOOPBACK if settings.is_loopback else ()), settings.mcp_host, *settings.allowed_hosts}
    hosts = {f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names}
    scheme = "https" if settings.tls_cert else "http"
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(hosts | {f"{host}:*" for host in hosts}),
        allowed_origins=sorted({*settings.cors_origins, *(f"{scheme}://{host}:{port}" for host in hosts)}),
    )


class Door:
    """Lets a request through to the transport behind it, with its client as `scope["user"]`."""

    def __init__(self, app: ASGIApp, settings: TransportSettings, port: int, known: access.Access) -> None:
        self._app = app
        self._access = known
        self._most_bytes = settings.max_message_bytes
        self._security = TransportSecurityMiddleware(security(settings, port))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            await self._enter(scope)
            if scope["type"] == "http" and scope["method"] == "POST":
                receive = await self._message(scope, receive)
            await self._app(scope, receive, send)
        except access.Refused as refused:
            error: dict[str, object] = {"code": INVALID_REQUEST, "message": refused.reason}
            await _refuse(refused.status, error, scope, receive, send, headers=refused.headers)
        except jsonrpc.InvalidMessage as invalid:
            await _refuse(400, invalid.error, scope, receive, send, request_id=invalid.request_id)

    async def _enter(self, scope: Scope) -> None:
        """Name the client of a request. Raises Refused for one that may not come in."""
        request = Request({**scope, "type": "http", "method": scope.get("method", "GET")})
        if (refusal := await self._security.validate_request(request)) is not None:
            raise access.Refused(refusal.status_code, _STRANGE[refusal.status_code])
        address = request.client.host if request.client else ""
        client = self._access.client(request.headers, address)
        scope["user"] = AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))

    async def _message(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body, which is one message, and return what gives it again. Raises Refused."""
        declared = HTTPConnection(scope).headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self._most_bytes:
            raise self._too_large()
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(_BODY_WITHIN_S):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise access.Refused(400, "The client left before its message was whole.")
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self._most_bytes:
                        raise self._too_large()
        except TimeoutError:
            raise access.Refused(408, f"The message was not whole within {_BODY_WITHIN_S:.0f} s.") from None
        jsonrpc.parse(bytes(body))
        return _Replay(bytes(body), receive)

    def _too_large(self) -> access.Refused:
        return access.Refused(413, f"Invalid Request: a message has at most {self._most_bytes} bytes")


_STRANGE: Final = {
    421: "This host is not called by that name; --allowed-hosts takes others.",
    403: "Web pages of that origin may not call; --cors-origins takes those that may.",
}


class _Replay:
    """Gives a body that was read once more, and then what comes."""

    def __init__(self, body: bytes, rest: Receive) -> None:
        self._body: bytes | None = body
        self._rest = rest

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._rest()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _refuse(
    status: int,
    error: dict[str, object],
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    request_id: object = None,
    headers: dict[str, str] | None = None,
) -> None:
    """Answer what a client of MCP can read, and a person with curl; a websocket is closed before it opens."""
    body = {"jsonrpc": "2.0", "id": request_id, "error": error}
    await JSONResponse(body, status, headers)(scope, receive, send)
