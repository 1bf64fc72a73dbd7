"""What a launcher keeps of a chat, so that another process can go on with it where one has died."""

import json
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import Message
from shared.wire import MOST_SUBSCRIBED

_CONNECTION_CLOSED: Final = -32000
_LISTENING: Final = "subscriptions/listen"
"""Is answered when it ends."""
_MOST_ATTEMPTS: Final = 2
_MOST_CANCELLED: Final = 50
_MOST_UNANSWERED: Final = 256
_MOST_BYTES: Final = 2_000_000
"""Bound what others wait for, as all that a chat has under way may go on at the same moment."""


class Request:
    """Is a message of the client that waits for its answer."""

    def __init__(self, message: Message, line: bytes) -> None:
        self.message, self.line = message, line
        self.call_id = os.urandom(16).hex()
        self.attempt = 1
        self.is_sent = False
        """True once a byte of it has gone to the process that is to answer."""

    @property
    def head(self) -> bytes:
        """Return what the shared process is told beside the message."""
        return json.dumps([self.call_id, self.attempt]).encode() if self.is_call else b""

    @property
    def is_call(self) -> bool:
        return self.message.get("method") == "tools/call"


class Resumed(NamedTuple):
    """Is a message that another process is sent, and whether the client still waits for what it answers."""

    message: Message
    line: bytes
    request: Request | None


class Kept:
    """Remembers the handshake, the subscriptions and the requests that are not answered."""

    def __init__(self) -> None:
        self.state = b"{}"
        """What the shared process last said of the chat."""
        self.waiting: dict[object, Request] = {}
        self.asked: dict[object, None] = {}
        """The ids of the requests to the client that it has not answered."""
        self.cancelled: list[str] = []
        self._bytes = 0
        self._handshake: dict[object, tuple[Message, bytes]] = {}
        self._subscribed: dict[object, tuple[Message, bytes]] = {}

    @property
    def is_full(self) -> bool:
        """Return whether the client has to wait for answers before it is read on."""
        return len(self.waiting) >= _MOST_UNANSWERED or self._bytes > _MOST_BYTES

    @property
    def is_waiting(self) -> bool:
        """Return whether the client waits for an answer that may come any moment."""
        return any(request.message.get("method") != _LISTENING for request in self.waiting.values())

    def note(self, message: Message, line: bytes, *, is_answered: bool) -> Request | None:
        """Remember a message of the client. Returns the request that it is, if it waits for an answer."""
        method, params = message.get("method"), message.get("params")
        given: Message = params if isinstance(params, dict) else {}
        if method in {"initialize", "notifications/initialized"}:
            self._handshake[method] = message, line
        elif method == "resources/subscribe":
            if len(self._subscribed) < MOST_SUBSCRIBED:
                self._subscribed[str(given.get("uri"))] = message, line
        elif method == "resources/unsubscribe":
            self._subscribed.pop(str(given.get("uri")), None)
        elif method == "notifications/cancelled":
            self._cancel(_id(given.get("requestId")))
        if is_answered or method is None or "id" not in message:
            return None
        self.answer(message["id"])  # who gives an id twice gets the first answer, under either
        self._bytes += len(line)
        self.waiting[message["id"]] = request = Request(message, line)
        return request

    def expects(self, message: Message) -> bool:
        """Return whether a message of the client is to be passed on: all are but answers that nobody waits for."""
        if "method" in message:
            return True
        request_id = _id(message.get("id"))
        wanted = request_id in self.asked
        self.asked.pop(request_id, None)
        return wanted

    def answer(self, request_id: object) -> bool:
        """Note that a request is answered. Returns whether the client still waits for that."""
        request = self.waiting.pop(request_id, None)
        self._bytes -= len(request.line) if request else 0
        return request is not None

    def lose(self) -> Iterator[bytes]:
        """Prepare for another process. Yields what the client has to be told: of requests that two processes did not
        answer, and of what it was asked and need not answer any more."""
        for request_id, request in [*self.waiting.items()]:
            request.attempt += request.is_sent
            request.is_sent = False
            if request.attempt > _MOST_ATTEMPTS:
                self.answer(request_id)
                yield lost(request)
        for asked in self.asked:
            params = {"requestId": asked, "reason": "The gateway was restarted."}
            yield json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()
        self.asked.clear()

    def resumed(self) -> Iterator[Resumed]:
        """Yield what the next process has to be sent, in order."""
        again = [*self._handshake.values(), *self._subscribed.values()]
        requests = {id(request.line): request for request in self.waiting.values()}
        for message, line in again:
            yield Resumed(message, line, requests.pop(id(line), None))
        for request in requests.values():
            yield Resumed(request.message, request.line, request)

    def _cancel(self, request_id: object) -> None:
        request = self.waiting.get(request_id)
        if self.answer(request_id) and request and request.is_call:
            self.cancelled = [*self.cancelled[1 - _MOST_CANCELLED :], request.call_id]


def _id(value: object) -> object:
    """Return what may be a request's id; None for what no request has."""
    return value if isinstance(value, int | str) else None


def lost(request: Request) -> bytes:
    """Make the error of a request whose processes died before they answered."""
    from shared.next_calls import next_call  # noqa: PLC0415 - hardly ever needed

    method, advice, data = str(request.message.get("method")), "Send it again.", dict[str, object]()
    if request.is_call:
        params = request.message.get("params")
        method = str(params.get("name")) if isinstance(params, dict) else method
        data = {"tool": method, "callId": request.call_id}
        advice = f"It may have happened, or still go on. Ask: {next_call('get_call', call_id=request.call_id)}."
    message = f"The gateway's process ended during {method}, twice. {advice}"
    error = {"code": _CONNECTION_CLOSED, "message": message, "data": data}
    return jsonrpc.response(request.message["id"], error=error)
