"""Refuses requests that do not come from a client of this service, before anything reads them, and names the others."""

import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import structlog
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from browse_together.contract.errors import BrowseError
from browse_together.contract.requests import Body, BodyLimits, Held, Visitors
from browse_together.contract.wire import (
    CALL_ID,
    EXTENSION_ORIGIN,
    EXTENSION_SOCKET,
    FILE_BYTES,
    FILES,
    HOST_FILE_BYTES,
    HOSTS_FILES,
    HOSTS_LINK,
    MAX_MESSAGE_BYTES,
    WALL,
    WALL_GIVEN,
    is_call_id,
)

HELD: Final = Held()
"""Bytes of unanswered bodies, by the token that sent them."""
MESSAGE: Final = BodyLimits(MAX_MESSAGE_BYTES, HELD)
_FILE: Final = BodyLimits(FILE_BYTES, None, within_s=120.0, kind="application/octet-stream")
_HOST_FILE: Final = BodyLimits(HOST_FILE_BYTES, None, within_s=600.0, kind="application/octet-stream")
_PUT: Final = {FILES: _FILE, WALL_GIVEN: _FILE, HOSTS_FILES: _HOST_FILE}
"""What a file may be, by its path. No page of another site can send one by this method and content type."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST_HINT: Final = "Use http://127.0.0.1 and the port, or name further hosts in BROWSE_ALLOWED_HOSTS."

ErrorReply = Callable[[BrowseError, str], JSONResponse]


@dataclass(eq=False)
class Edge:
    """The outermost check: who sends a request, and its body. Each request gets the id of its reply and log lines: the
    caller's callId, or a new one."""

    app: ASGIApp
    allowed_hosts: Callable[[], Collection[str]]
    reply: ErrorReply

    def __post_init__(self) -> None:
        self._visitors = Visitors(lambda host: host in self.allowed_hosts(), _HOST_HINT)
        own = (EXTENSION_ORIGIN,)
        self._extension = Visitors(lambda host: host in self.allowed_hosts(), _HOST_HINT, own, own_pages=False)
        # hosts dial any name of this machine, with a token that no page in a browser has
        self._dialling = Visitors(lambda _: True, "", own_pages=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limits = _PUT.get(scope["path"], MESSAGE) if scope.get("method") == "PUT" else MESSAGE
        if scope["type"] == "http":
            call_id = headers.get(CALL_ID, "")
            request_id = call_id if is_call_id(call_id) else f"req_{secrets.token_hex(6)}"
            scope.setdefault("state", {})["request_id"] = request_id
            structlog.contextvars.bind_contextvars(request_id=request_id)  # the server runs each request in a task
        visitors = self._dialling if scope["path"] in {HOSTS_LINK, HOSTS_FILES} else self._visitors
        visitors = self._extension if scope["path"] == EXTENSION_SOCKET else visitors
        try:
            visitors.check(scope, follows_link=scope["path"] == WALL and _is_link(scope))
            if scope["type"] == "http" and scope["method"] in {"POST", "PUT", "PATCH"}:
                limits.check(scope["headers"])
        except BrowseError as error:
            await self._refuse(error, scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = Body(receive, limits, headers.get("authorization", ""))
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.release()

    async def _refuse(self, error: BrowseError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": error.message})  # clients see no reason
            return
        await self.reply(error, scope["state"].get("request_id", ""))(scope, receive, send)


def loopback_hosts(port: int) -> list[str]:
    return [f"{name}:{port}" for name in _LOOPBACK] + (list(_LOOPBACK) if port == 80 else [])  # noqa: PLR2004 - http


def _is_link(scope: Scope) -> bool:
    """Return whether a person may open the wall's page thus by a link, for instance in a chat. The page may not be
    framed, and contains no data."""
    return (scope["type"], scope.get("method")) == ("http", "GET")
