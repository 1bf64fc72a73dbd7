"""The only way in to the network transports: it checks a request's host, origin and key."""

from http import HTTPStatus
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.types import INVALID_REQUEST
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway import jsonrpc
from mcp_gateway.transports import access
from mcp_gateway.transports.settings import LOOPBACK, TransportSettings
from shared.requests import ambiguity

_STRANGE: Final = {
    421: "This host is not called by that name; --allowed-hosts takes others.",
    403: "Web pages of that origin may not call; --cors-origins takes those that may.",
}


def security(settings: TransportSettings, port: int) -> TransportSecuritySettings:
    """Return the names under which this host may be called, and the web pages that may call it."""
    local = LOOPBACK if settings.is_loopback or settings.is_everywhere else ()
    names = {*local, settings.mcp_host, *settings.allowed_hosts}
    hosts = {f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names}
    scheme = "https" if settings.tls_cert else "http"
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(hosts | {f"{host}:*" for host in hosts}),
        allowed_origins=sorted({*settings.cors_origins, *(f"{scheme}://{host}:{port}" for host in hosts)}),
    )


class Door:
    """An application that gets only permitted requests, with their client as `scope["user"]`."""

    def __init__(self, app: ASGIApp, settings: TransportSettings, port: int, known: access.Access) -> None:
        self._app = app
        self._access = known
        self._security = TransportSecurityMiddleware(security(settings, port))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._check_names(scope)
            with self._access.entered(HTTPConnection(scope)) as client:
                scope["user"] = AuthenticatedUser(AccessToken(token=client, client_id=client, scopes=[]))
                await self._app(scope, receive, send)
        except access.Refused as refused:
            error: dict[str, object] = {"code": INVALID_REQUEST, "message": refused.reason}
            await _refuse(refused.status, error, scope, receive, send, headers=refused.headers)
        except jsonrpc.InvalidMessage as invalid:
            await _refuse(400, invalid.error, scope, receive, send, request_id=invalid.request_id)

    async def _check_names(self, scope: Scope) -> None:
        """Raise Refused for an ambiguous request, an unknown host name or an unknown web page. A page of the gateway's
        own origin is refused too: it is an error page that somebody opened in order to call from there."""
        if problem := ambiguity(scope["headers"], scope["path"]):
            raise access.Refused(HTTPStatus.BAD_REQUEST, f"Invalid Request: {problem}")
        request = Request({**scope, "type": "http", "method": scope.get("method", "GET")})
        if (refusal := await self._security.validate_request(request)) is not None:
            raise access.Refused(refusal.status_code, _STRANGE[refusal.status_code])
        if request.headers.get("sec-fetch-site") == "same-origin":
            raise access.Refused(HTTPStatus.FORBIDDEN, _STRANGE[HTTPStatus.FORBIDDEN])


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
    """Answer in a form that an MCP client can read, and so can a person with curl. A websocket is closed before it
    opens."""
    body = {"jsonrpc": "2.0", "id": request_id, "error": error}
    await JSONResponse(body, status, headers)(scope, receive, send)
