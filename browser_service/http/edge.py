"""Refuses, before anything reads a request, what does not come from a client of this service."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.errors import BodyTooLarge, BrowseError, Forbidden, UnsupportedMediaType
from shared.wire import FILE_BYTES, FILES, MAX_MESSAGE_BYTES, PERSON

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(eq=False)
class Edge:
    """Checks Host, Origin, Sec-Fetch-Site and the content type of HTTP and WebSocket requests, and bounds their bodies.

    A page in any browser on this machine can send requests to loopback, and a foreign name can be made to resolve to
    it. Neither has our Host header with a matching Origin."""

    app: ASGIApp
    allowed_hosts: Callable[[], Iterable[str]]
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
        await self.app(scope, _bounded(receive, FILE_BYTES if _is_file(scope) else MAX_MESSAGE_BYTES), send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in set(self.allowed_hosts()):
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
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": error.message})
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
    """Recognize the upload of a file: a method and a content type that no page of another site can send."""
    return scope["type"] == "http" and (scope["method"], scope["path"]) == ("PUT", FILES)


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Recognize a person who opens the page for people from a link, such as in a chat. That page allows no frame, and
    holds no data."""
    to_person = scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(f"{PERSON}/")
    return to_person and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


def _check_body(headers: Headers, *, is_file: bool) -> None:
    limit = FILE_BYTES if is_file else MAX_MESSAGE_BYTES
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit:
        raise too_large(limit)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != ("application/octet-stream" if is_file else "application/json"):
        expected = "bytes (application/octet-stream)" if is_file else "JSON"
        raise UnsupportedMediaType(f"The body must be {expected}, not {kind or 'without a type'}.")


def _bounded(receive: Receive, limit: int) -> Receive:
    """Count a body while it arrives, for those without a length."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > limit:
                raise too_large(limit)
        return message

    return counted
