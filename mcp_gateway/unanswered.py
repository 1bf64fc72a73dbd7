"""Remembers a client's unanswered requests, to send them again if the process at the other end is lost.

A chat's launcher and the websocket client use this. A call keeps its id each time it is sent, so the service does it
once and returns its outcome.
"""

import itertools
import os
from collections.abc import Iterator
from typing import Final

from browse_together.contract.wire import ATTEMPT_META, CALL_ID_META, MOST_SUBSCRIBED
from mcp_gateway.jsonrpc import Message

_CONNECTION_CLOSED: Final = -32000
_LISTENING: Final = "subscriptions/listen"
"""A long-lived request: answered only when it closes."""
_HANDSHAKE: Final = ("initialize", "notifications/initialized")
_MOST_ATTEMPTS: Final = 2
_MOST_CANCELLED: Final = 50
_MOST_WAITING: Final = 256
_MOST_BYTES: Final = 2_000_000
"""Limits how long others wait, because all of a chat's open requests may be sent again at once."""


class Request:
    """A request without an answer."""

    def __init__(self, message: Message, size: int) -> None:
        self.message, self.size = message, size
        self.attempt = 1
        self.is_sent = False
        if self.is_call:
            self.message = _marked(message, {CALL_ID_META: os.urandom(16).hex()})

    @property
    def is_call(self) -> bool:
        return self.message.get("method") == "tools/call"

    @property
    def call_id(self) -> str:
        meta = _params(self.message).get("_meta")
        return str(meta[CALL_ID_META]) if isinstance(meta, dict) else ""

    @property
    def again(self) -> Message:
        """The message as sent next. For a repeated call, this tells the service that it may know the call."""
        return _marked(self.message, {ATTEMPT_META: True}) if self.is_call and self.attempt > 1 else self.message


class Unanswered:
    """A client's handshake, subscriptions and unanswered requests, and the open requests to the client."""

    def __init__(self, ended: str) -> None:
        """`ended` says what happened at the other end, such as "The connection was lost"."""
        self.waiting: dict[object, Request] = {}
        self.cancelled: list[str] = []
        """Ids of cancelled calls that may go on in the service if it was not told."""
        self._ended = ended
        self._bytes = 0
        self.handshake: dict[str, Message] = {}
        self.subscribed: dict[str, Message] = {}
        self._asked: dict[object, object] = {}
        """By the ids that the client sees, the ids that the asking process gave its requests."""
        self._numbers = itertools.count(1)

    @property
    def is_full(self) -> bool:
        """True if the client must wait for answers before we read more."""
        return len(self.waiting) >= _MOST_WAITING or self._bytes > _MOST_BYTES

    @property
    def is_due(self) -> bool:
        """True if an answer may come at any moment."""
        return any(request.message.get("method") != _LISTENING for request in self.waiting.values())

    def note(self, message: Message, size: int, *, is_answered: bool = False) -> tuple[Message, Request | None]:
        """Record a client's message. Returns the message to send, and its request if it needs an answer."""
        method, params = message.get("method"), _params(message)
        uri = str(params.get("uri"))
        if method in _HANDSHAKE:
            self.handshake[str(method)] = message
        elif method == "resources/subscribe" and len(self.subscribed) < MOST_SUBSCRIBED:
            self.subscribed[uri] = message
        elif method == "resources/unsubscribe":
            self.subscribed.pop(uri, None)
        elif method == "notifications/cancelled":
            self._cancel(_id(params.get("requestId")))
        if is_answered or method is None or "id" not in message:
            return message, None
        self.answer(message["id"])  # if a client uses an id twice, the first answer counts for both
        request = Request(message, size)
        self.waiting[message["id"]] = request
        self._bytes += size
        return request.message, request

    def answer(self, request_id: object) -> bool:
        """Record that a request was answered. Returns whether the client still waited for it."""
        request = self.waiting.pop(request_id, None)
        self._bytes -= request.size if request else 0
        return request is not None

    def to_client(self, message: Message) -> Message:
        """Return a message for the client. A request to it gets an id that no earlier process has used."""
        if "method" in message and "id" in message:
            number = next(self._numbers)
            self._asked[number] = message["id"]
            return {**message, "id": number}
        if message.get("method") == "notifications/cancelled":
            theirs = _params(message).get("requestId")
            own = next((number for number, asked in self._asked.items() if asked == theirs), theirs)
            return {**message, "params": {**_params(message), "requestId": own}}
        return message

    def from_client(self, message: Message) -> Message | None:
        """Return a client's message for the process; None for an answer to an unknown request."""
        if "method" in message:
            return message
        number = _id(message.get("id"))
        return {**message, "id": self._asked.pop(number)} if number in self._asked else None

    def lose(self) -> Iterator[Message]:
        """Prepare for another process. Yields messages for the client: errors for requests that two processes did not
        answer, and cancellations of requests to it."""
        for request_id, request in [*self.waiting.items()]:
            request.attempt += request.is_sent
            request.is_sent = False
            if request.attempt > _MOST_ATTEMPTS:
                self.answer(request_id)
                yield {"jsonrpc": "2.0", "id": request_id, "error": self._lost(request)}
        for number in self._asked:
            params = {"requestId": number, "reason": f"{self._ended}."}
            yield {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self._asked.clear()

    def resumed(self) -> Iterator[tuple[Message, Request | None]]:
        """Yield what must be sent to the next process, in order."""
        waiting = {id(request.message): request for request in self.waiting.values()}
        for message in (*self.handshake.values(), *self.subscribed.values()):
            yield message, waiting.pop(id(message), None)
        for request in waiting.values():
            yield request.again, request

    def _cancel(self, request_id: object) -> None:
        request = self.waiting.get(request_id)
        if self.answer(request_id) and request and request.is_call:
            self.cancelled = [*self.cancelled[1 - _MOST_CANCELLED :], request.call_id]

    def _lost(self, request: Request) -> Message:
        """Make the error for a request whose processes were lost before they answered."""
        from browse_together.contract.next_calls import next_call, plain  # noqa: PLC0415 - hardly ever needed

        method, advice, data = str(request.message.get("method")), "Send it again.", Message()
        if request.is_call:
            method, call_id = str(_params(request.message).get("name")), request.call_id
            data = {"tool": method, "callId": call_id}
            advice = f"It may have happened, or still go on. Ask: {plain(next_call('get_call', call_id=call_id))}."
        message = f"{self._ended} during {method}, twice. {advice}"
        return {"code": _CONNECTION_CLOSED, "message": message, "data": data}


def _params(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _marked(message: Message, mark: Message) -> Message:
    """Return a message with marks in its `_meta`. Marks that the client set itself stay."""
    params = _params(message)
    meta = params.get("_meta")
    return {**message, "params": {**params, "_meta": {**mark, **(meta if isinstance(meta, dict) else {})}}}


def _id(value: object) -> object:
    """Return the value if it may be a request's id, else None."""
    return value if isinstance(value, int | str) else None
