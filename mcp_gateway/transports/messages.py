"""Reads, limits and checks the body of a POST, which is one message, before the SDK sees it."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_gateway import jsonrpc
from mcp_gateway.transports.access import HELD, Refused
from shared.held import MESSAGES_AT_A_TIME
from shared.json_lines.lines import BYTE_ORDER_MARK

METHOD: Final = "mcp.method"
"""The key in a POST's scope for its message's method; None for a response."""
_JSON: Final = "application/json"
BODY_WITHIN_S: Final = 30.0


class OneMessage:
    """An application that gets a request once its message is complete. Raises Refused and InvalidMessage for the
    door."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            if not Headers(scope=scope).get("content-type", "").lower().startswith(_JSON):
                raise Refused(415, f"A message is JSON: send it with Content-Type: {_JSON}.")
            body = await self._body(scope, receive)
            scope[METHOD] = jsonrpc.parse(body).get("method")
            receive = _Replay(body, receive)
        await self._app(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        declared = HTTPConnection(scope).headers.get("content-length", "0")
        if int(declared) > self._most_bytes:  # the HTTP parser accepts only digits
            raise self._too_large()
        body, more = bytearray(), True
        with self._holding(scope["user"].username, body):
            try:
                async with asyncio.timeout(BODY_WITHIN_S):
                    while more:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            raise Refused(400, "The client left before its message was whole.")
                        self._add(scope["user"].username, body, message.get("body", b""))
                        more = message.get("more_body", False)
            except TimeoutError:
                raise Refused(408, f"The message was not whole within {BODY_WITHIN_S:.0f} s.") from None
        return bytes(body).removeprefix(BYTE_ORDER_MARK)

    @contextlib.contextmanager
    def _holding(self, client: str, body: bytearray) -> Iterator[None]:
        try:
            yield
        finally:
            HELD.count(client, -len(body))

    def _add(self, client: str, body: bytearray, part: bytes) -> None:
        body += part
        held = HELD.count(client, len(part))
        if len(body) > self._most_bytes:
            raise self._too_large()
        if held > MESSAGES_AT_A_TIME * self._most_bytes:
            raise Refused(503, "This client is sending too much at a time.", {"Retry-After": "1"})

    def _too_large(self) -> Refused:
        return Refused(413, f"Invalid Request: a message has at most {self._most_bytes} bytes")


class _Replay:
    """A body that is received a second time, followed by what comes later."""

    def __init__(self, body: bytes, rest: Receive) -> None:
        self._body: bytes | None = body
        self._rest = rest

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._rest()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
