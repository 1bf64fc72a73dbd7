"""Turns a reply that needs no stream into one JSON body: it is written once, and the connection stays open.

The SDK answers each request with an event stream, which clients end by closing the connection. The protocol lets the
server choose, and the first event decides: it is the result, or something before the result. Errors stay events,
because the SDK's client fails on a body that arrives while it closes, as the error of a cancelled call does.
"""

import re
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

_EVENT: Final = b"event: message\r\ndata: "
_END: Final = b"\r\n\r\n"
_RESULT: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*"),"result":')
_OF_STREAMS: Final = ("connection", "x-accel-buffering")


class OneBody:
    """The `send` of one request. It holds back the start of a stream until the first event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._is_over = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_stream(message):
            self._start = message
        elif self._start is not None:
            start, self._start = self._start, None
            if (response := _response(message.get("body", b""))) is None:
                await self._send(start)
                await self._send(message)
            else:
                self._is_over = True
                await self._send(_start_of_body(start, len(response)))
                await self._send({"type": "http.response.body", "body": response})
        elif not self._is_over:
            await self._send(message)


def _is_stream(start: Message) -> bool:
    return MutableHeaders(raw=start["headers"]).get("content-type", "").startswith("text/event-stream")


def _response(event: bytes) -> bytes | None:
    """Return the response in an event that contains a result; None for any other event."""
    text = event[len(_EVENT) : -len(_END)]
    is_one_event = event.startswith(_EVENT) and event.endswith(_END) and b"\n" not in text
    return text if is_one_event and _RESULT.match(text) else None


def _start_of_body(start: Message, size: int) -> Message:
    headers = MutableHeaders(raw=[*start["headers"]])
    for name in _OF_STREAMS:
        del headers[name]
    headers["content-type"], headers["content-length"] = "application/json", str(size)
    return {**start, "headers": headers.raw}
