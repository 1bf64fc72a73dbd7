"""Refuses requests that do not come from a client of this service, before anything reads them."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.errors import (
    BodyTooLarge,
    BrowseError,
    Forbidden,
    InvalidRequest,
    ResourceExhausted,
    TimedOut,
    UnsupportedMediaType,
)
from shared.held import MESSAGES_AT_A_TIME, Held
from shared.quoting import one_line
from shared.requests import TARGET, ambiguity
from shared.wire import FILE_BYTES, FILES, MAX_MESSAGE_BYTES, WALL, WALL_GIVEN

BODY_WITHIN_S: Final = 30.0
FILE_WITHIN_S: Final = 120.0
"""How soon a body or a file must be complete, counted from the first read."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
HELD: Final = Held()
"""Bytes of unanswered bodies, by the token that sent them."""


@dataclass(eq=False)
class Edge:
    """The outermost check: unambiguous headers, Host, Origin, Sec-Fetch-Site, content type, and the size of the body.

    A page in any browser on this machine can send requests to loopback, and a foreign name can be made to resolve to
    it. Neither can send our Host header together with a matching Origin."""

    app: ASGIApp
    allowed_hosts: Callable[[], Collection[str]]
    reply: "ErrorReply"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope)
        except BrowseError as error:
            await self._refuse(error, scope, receive, send)
            return
        body = _Body(scope, receive)
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.release()

    def _check(self, scope: Scope) -> None:
        if problem := ambiguity(scope["headers"], scope.get(TARGET, "/")):
            raise InvalidRequest(problem, hint="Send each header once, and the path alone as the target.")
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.allowed_hosts():
            raise Forbidden(
                f"The Host header {host!r} is not this service's.",
                hint="Use http://127.0.0.1 and the port, or name further hosts in BROWSE_ALLOWED_HOSTS.",
            )
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}", f"https://{host}"}:
            raise Forbidden(f"Requests from the origin {origin!r} are not accepted.")
        foreign = headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}
        if foreign and not _follows_link(scope, headers):
            raise Forbidden("Requests that another site's page sends are not accepted.")
        if scope["type"] == "http" and scope["method"] in {"POST", "PUT", "PATCH"}:
            _check_body(headers, is_file=_is_file(scope))

    async def _refuse(self, error: BrowseError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": error.message})  # clients see no reason
            return
        await self.reply(error, scope["state"].get("request_id", ""))(scope, receive, send)


ErrorReply = Callable[[BrowseError, str], JSONResponse]


def loopback_hosts(port: int) -> list[str]:
    return [f"{name}:{port}" for name in _LOOPBACK] + (list(_LOOPBACK) if port == 80 else [])  # noqa: PLR2004 - http


def too_large(limit: int = MAX_MESSAGE_BYTES) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {limit:,} bytes.", hint="Send less at once.", details={"context": {"limit": limit}}
    )


def _is_file(scope: Scope) -> bool:
    """Return whether this uploads a file, by a method and content type that no page of another site can send."""
    return scope["type"] == "http" and scope["method"] == "PUT" and scope["path"] in {FILES, WALL_GIVEN}


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Return whether a person opens the wall by a link, for instance in a chat. That page may not be framed and holds
    no data."""
    to_wall = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == WALL
    return to_wall and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


def _check_body(headers: Headers, *, is_file: bool) -> None:
    limit = FILE_BYTES if is_file else MAX_MESSAGE_BYTES
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit:
        raise too_large(limit)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != ("application/octet-stream" if is_file else "application/json"):
        expected = "bytes (application/octet-stream)" if is_file else "JSON"
        raise UnsupportedMediaType(f"The body must be {expected}, not {kind or 'without a type'}.")
    if (coding := headers.get("content-encoding", "identity").lower()) != "identity":  # others may see another body
        raise UnsupportedMediaType(f"The body must be sent as it is, and not as {one_line(coding)}.")


class _Body:
    """A body that is bounded while it arrives: its bytes, its time, and its sender's bytes in all."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._is_file = _is_file(scope)
        self._limit, self._within_s = (
            (FILE_BYTES, FILE_WITHIN_S) if self._is_file else (MAX_MESSAGE_BYTES, BODY_WITHIN_S)
        )
        self._sender = Headers(scope=scope).get("authorization", "")
        self._is_whole = scope["type"] != "http"
        self._until: float | None = None
        self._received = 0

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()
        self._until = self._until or asyncio.get_running_loop().time() + self._within_s
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            late = f"The body was not whole within {self._within_s:.0f} s; nothing was done."
            raise TimedOut(late, hint="Send it anew.") from None
        self._is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        self._take(len(message.get("body", b"")))
        return message

    def release(self) -> None:
        if not self._is_file and self._received:
            HELD.count(self._sender, -self._received)

    def _take(self, size: int) -> None:
        self._received += size
        if self._received > self._limit:
            raise too_large(self._limit)
        if not self._is_file and size and HELD.count(self._sender, size) > MESSAGES_AT_A_TIME * MAX_MESSAGE_BYTES:
            raise ResourceExhausted("This client is sending too much at a time.", hint="Repeat the call in a moment.")
