"""The only way in to the network transports: it checks a request's host, origin and key."""

import re
from typing import Final
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.types import INVALID_REQUEST
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_gateway import jsonrpc
from mcp_gateway.transports import access
from mcp_gateway.transports.settings import LOOPBACK, TransportSettings
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
