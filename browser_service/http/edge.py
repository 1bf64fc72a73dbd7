"""Refuses requests that do not come from a client of this service, before anything reads them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from browse_together.contract.errors import BrowseError
from browse_together.contract.requests import Body, BodyLimits, Held, Visitors
from browse_together.contract.wire import (
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
)

HELD: Final = Held()
"""Bytes of unanswered bodies, by the token that sent them."""
MESSAGE: Final = BodyLimits(MAX_MESSAGE_BYTES, HELD)
_FILE: Final = BodyLimits(FILE_BYTES, None, within_s=120.0, kind="application/octet-stream")
_HOST_FILE: Final = BodyLimits(HOST_FILE_BYTES, None, within_s=600.0, kind="application/octet-stream")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HOST_HINT: Final = "Use http://127.0.0.1 and the port, or name further hosts in BROWSE_ALLOWED_HOSTS."

ErrorReply = Callable[[BrowseError, str], JSONResponse]


@dataclass(eq=False)
class Edge:
    """The outermost check: who sends a request, and its body."""

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
        limits = _limits(scope)
        visitors = self._dialling if scope["path"] in {HOSTS_LINK, HOSTS_FILES} else self._visitors
        visitors = self._extension if scope["path"] == EXTENSION_SOCKET else visitors
        try:
            visitors.check(scope, follows_link=_is_to_wall(scope))
            if scope["type"] == "http" and scope["method"] in {"POST", "PUT", "PATCH"}:
                limits.check(scope["headers"])
        except BrowseError as error:
            await self._refuse(error, scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = Body(receive, limits, Headers(scope=scope).get("authorization", ""))
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


def _limits(scope: Scope) -> BodyLimits:
    """Return what a body may be. A file is uploaded by a method and content type that no page of another site can
    send."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return MESSAGE
    return {FILES: _FILE, WALL_GIVEN: _FILE, HOSTS_FILES: _HOST_FILE}.get(scope["path"], MESSAGE)


def _is_to_wall(scope: Scope) -> bool:
    """Return whether a person may open this by a link, for instance in a chat: the wall's page, which may not be framed
    and contains no data."""
    return (scope["type"], scope.get("method"), scope["path"]) == ("http", "GET", WALL)
