"""Checks every HTTP request and websocket before anything reads it, for the service and the gateway alike.

A page in any browser on this machine can send requests to loopback, and a foreign name can be made to resolve to it.
Neither can send our Host header together with a matching Origin. Ambiguous requests are refused, because a program that
wrote or forwarded them might have read them otherwise."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from browse_together.contract.errors import (
    BodyTooLarge,
    Forbidden,
    InvalidRequest,
    ResourceExhausted,
    TimedOut,
    UnsupportedMediaType,
)
from browse_together.contract.quoting import one_line

MESSAGES_AT_A_TIME: Final = 8
"""How many bodies of maximum size a client may be sending at once, so that incomplete ones cannot fill the memory."""
MOST_HEADERS: Final = 100
_ONCE: Final = frozenset(
    b"host origin authorization content-type content-length transfer-encoding sec-fetch-site x-api-key mcp-session-id "
    b"mcp-protocol-version x-browse-call x-browse-attempt x-browse-reply x-browse-inline x-browse-catalogue "
    b"x-browse-chat".split()
)
"""The headers that we read. Each may occur only once."""


Headers = Sequence[tuple[bytes, bytes]]
"""Names, in lower case, and values."""
Message = MutableMapping[str, Any]  # Any: as ASGI declares it


@dataclass(frozen=True)
class Visitors:
    """Whose requests are let in: by which names of this host, and from which web pages."""

    knows_host: Callable[[str], bool]
    """Takes a Host header."""
    host_hint: str
    origins: Collection[str] = ()
    """Web pages of other sites that may call."""
    own_pages: bool = True
    """Whether pages of this port may call. Where it serves none, such a page is one that somebody opened in order to
    call from there."""

    def check(self, scope: Mapping[str, Any], *, follows_link: bool = False) -> None:  # Any: as ASGI declares it
        """Raise InvalidRequest for an ambiguous request, Forbidden for one to another host or by a page of another
        site. `follows_link` says that a person may come to this path by a link on any site."""
        target = scope["raw_path"].decode("latin-1")
        if problem := ambiguity(scope["headers"], target, scope.get("http_version", "1.1")):
            raise InvalidRequest(problem, hint="Send each header once, and the path alone as the target.")
        headers = _by_name(scope["headers"])
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.knows_host(host):
            raise Forbidden(f"The Host header {host!r} is not this service's.", hint=self.host_hint)
        if origin is not None and origin not in {f"http://{host}", f"https://{host}", *self.origins}:
            raise Forbidden(f"Requests from the origin {origin!r} are not accepted.")
        site = headers.get("sec-fetch-site", "none")
        is_own = site == "same-origin" and self.own_pages
        if not (site == "none" or is_own or origin in self.origins or (follows_link and _is_link(headers))):
            raise Forbidden("Requests that another site's page sends are not accepted.")


def _by_name(headers: Headers) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _is_link(headers: Mapping[str, str]) -> bool:
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


class Held:
    """The bytes of incomplete bodies that each client makes us hold. Clients that hold none are forgotten."""

    def __init__(self) -> None:
        self._bytes = Counter[str]()

    def count(self, client: str, more: int) -> int:
        """Add to the bytes of a client; a negative number subtracts. Returns how many the client holds now."""
        self._bytes[client] += more
        return self._bytes[client] or self._bytes.pop(client)

    def of(self, client: str) -> int:
        return self._bytes[client]


@dataclass(frozen=True)
class BodyLimits:
    """What a body may be. Of a file, which is not held in memory, its sender's bytes are not counted."""

    most: int
    held: Held | None
    within_s: float = 30.0
    """How soon it must be complete, counted from the first read."""
    kind: str = "application/json"

    @property
    def too_large(self) -> BodyTooLarge:
        problem, context = f"The body is larger than {self.most:,} bytes.", {"limit": self.most}
        return BodyTooLarge(problem, hint="Send less at once.", details={"context": {**context}})

    def check(self, headers: Headers) -> None:
        """Raise BodyTooLarge or UnsupportedMediaType for what the headers announce."""
        given = _by_name(headers)
        length = given.get("content-length", "0")
        if length.isdecimal() and int(length) > self.most:
            raise self.too_large
        kind = given.get("content-type", "").partition(";")[0].strip().lower()
        if kind != self.kind:
            raise UnsupportedMediaType(f"The body must be {self.kind}, not {one_line(kind) or 'without a type'}.")
        coding = given.get("content-encoding", "identity").lower()
        if coding != "identity":  # others may see another body
            raise UnsupportedMediaType(f"The body must be sent as it is, and not as {one_line(coding)}.")


class Body:
    """A body that is bounded while it arrives: its bytes, its time, and its sender's bytes in all."""

    def __init__(self, receive: Callable[[], Awaitable[Message]], limits: BodyLimits, sender: str) -> None:
        self._receive, self._limits, self._sender = receive, limits, sender
        self._is_whole = False
        self._until: float | None = None
        self._received = 0

    async def receive(self) -> Message:
        """Receive its next part. Raises BodyTooLarge, ResourceExhausted, TimedOut."""
        if self._is_whole:
            return await self._receive()
        self._until = self._until or asyncio.get_running_loop().time() + self._limits.within_s
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            late = f"The body was not whole within {self._limits.within_s:.0f} s; nothing was done."
            raise TimedOut(late, hint="Send it anew.") from None
        self._is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        self._take(len(message.get("body", b"")))
        return message

    def release(self) -> None:
        """Stop counting its bytes for its sender."""
        if self._limits.held and self._received:
            self._limits.held.count(self._sender, -self._received)

    def _take(self, size: int) -> None:
        self._received += size
        held = self._limits.held.count(self._sender, size) if self._limits.held and size else 0
        if self._received > self._limits.most:
            raise self._limits.too_large
        if held > MESSAGES_AT_A_TIME * self._limits.most:
            raise ResourceExhausted("This client is sending too much at a time.", hint="Repeat the call in a moment.")


def ambiguity(headers: Headers, target: str, version: str = "1.1") -> str:
    """Return what is ambiguous in a request, or "". Names of headers are in lower case. `target` is the text between
    method and query."""
    if len(headers) > MOST_HEADERS:
        return f"The request has {len(headers)} headers; {MOST_HEADERS} are read."
    seen = set[bytes]()
    for name, _ in headers:
        if name in seen:
            return f"The request has the header {name.decode()} twice."
        if name in _ONCE:
            seen.add(name)
    if {b"content-length", b"transfer-encoding"} <= seen:
        return "The request says in two ways how long its body is."
    if b"transfer-encoding" in seen and version == "1.0":
        return "HTTP/1.0 knows no Transfer-Encoding: a forwarder may take the body for another request."
    if target.startswith("/") or target == "*":
        return ""
    return f"The target {target[:200]!r} is no path: a forwarder may go by its host, and not by the Host header."
