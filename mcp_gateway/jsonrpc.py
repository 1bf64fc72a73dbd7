"""Parses and writes a wire's JSON-RPC messages, strictly and without the SDK."""

import json
from collections.abc import Iterator
from typing import Final

from browse_together.contract.json_lines import strict
from browse_together.contract.json_lines.lines import Lines, id_in

Message = dict[str, object]

INVALID_REQUEST: Final = -32600
_PARSE_ERROR: Final = -32700
_INVALID_PARAMS: Final = -32602


class InvalidMessage(Exception):
    """A text that is no message. The reply is `error`, under `request_id` if the message has a valid one."""

    def __init__(self, code: int, reason: str, request_id: object = None) -> None:
        super().__init__(reason)
        self.error = {"code": code, "message": reason}
        self.request_id = request_id if _is_request_id(request_id) else None


def parse(text: bytes) -> Message:
    """Parse a message. Raises InvalidMessage, with the id if the text has one."""
    try:
        message = strict.loads(text)
        strict.check_text(message, text)
    except strict.HalfCharacter as error:
        raise InvalidMessage(_INVALID_PARAMS, f"Invalid params: {error}", _request_id(message)) from None
    except strict.TooMuch as error:
        raise InvalidMessage(INVALID_REQUEST, f"Invalid Request: {error}", id_in(text)) from None
    except ValueError as error:
        raise InvalidMessage(_PARSE_ERROR, f"Parse error: {error}", id_in(text)) from None
    if not isinstance(message, dict):
        reason = "Invalid Request: a message is one JSON object; there are no batches"
        raise InvalidMessage(INVALID_REQUEST, reason)
    _check(message)
    return message


def messages(lines: Lines) -> Iterator[tuple[Message, bytes]]:
    """Yield a host's messages and their lines until it closes. An invalid line gets an error."""
    for line, is_complete in lines.read():
        try:
            if not is_complete:
                raise too_large(line, lines.most_bytes)
            if line.strip():
                yield parse(line), line
        except InvalidMessage as invalid:
            lines.write(refusal(invalid.request_id, invalid.error))


def too_large(ends: bytes, most_bytes: int) -> InvalidMessage:
    """Make the error for a message over the limit."""
    reason = f"Invalid Request: a message has at most {most_bytes} bytes"
    return InvalidMessage(INVALID_REQUEST, reason, id_in(ends))


def encoded(message: Message) -> bytes:
    """Return the text of a parsed message. Parsing has excluded half characters."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def answer(request_id: object, result: Message) -> bytes:
    """Return the text of a response, as the SDK writes it."""
    return encoded({"jsonrpc": "2.0", "id": request_id, "result": result})


def refusal(request_id: object, error: Message) -> bytes:
    """Return the text of a response with an error, which may contain half characters."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, separators=(",", ":")).encode()


def _check(message: Message) -> None:
    request_id, params = message.get("id"), message.get("params")
    if message.get("jsonrpc") != "2.0":
        raise InvalidMessage(INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"', request_id)
    if "method" not in message and "id" in message and ("result" in message or "error" in message):
        return
    if not isinstance(message.get("method"), str):
        raise InvalidMessage(INVALID_REQUEST, 'Invalid Request: "method" must be a string', request_id)
    if "id" in message and not _is_request_id(request_id):
        raise InvalidMessage(INVALID_REQUEST, 'Invalid Request: "id" must be a string or an integer')
    if params is not None and not isinstance(params, dict):
        raise InvalidMessage(_INVALID_PARAMS, 'Invalid params: "params" must be an object', request_id)


def _request_id(message: object) -> object:
    """Return a request's id; None for a response or without an id."""
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _is_request_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)
