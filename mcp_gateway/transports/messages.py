"""Reads, limits and checks the body of a POST, which is one message, before the SDK sees it."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from browse_together.contract.json_lines.lines import BYTE_ORDER_MARK
from browse_together.contract.requests import Body, BodyLimits
from mcp_gateway import jsonrpc
from mcp_gateway.transports.access import HELD, Refused

METHOD: Final = "mcp.method"
"""The key in a POST's scope for its message's method; None for a response."""


class OneMessage:
    """An application that gets a request once its message is complete. Raises what the door makes refusals of."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._limits = BodyLimits(most_bytes, HELD)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            self._limits.check(scope["headers"])
            body = await self._whole(Body(receive, self._limits, scope["user"].username))
            scope[METHOD] = jsonrpc.parse(body).get("method")
            receive = _Replay(body, receive)
        await self._app(scope, receive, send)

    async def _whole(self, body: Body) -> bytes:
        whole, more = bytearray(), True
        try:
            while more:
                message = await body.receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "The client left before its message was whole.")
                whole += message.get("body", b"")
                more = message.get("more_body", False)
        finally:
            body.release()
        return bytes(whole).removeprefix(BYTE_ORDER_MARK)


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
