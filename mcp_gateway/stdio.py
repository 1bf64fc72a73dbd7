"""One line of stdin or stdout carries one JSON-RPC message; what is no message is refused here."""

import contextlib
import json
import os
import re
import select
import sys
import threading
from collections.abc import Iterator
from typing import Final

from shared.wire import MAX_MESSAGE_BYTES

Message = dict[str, object]

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_INVALID_PARAMS: Final = -32602

_CHUNK = 65_536
_END = 512
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,256}")'
_FIRST_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_LAST_ID = re.compile(rb",\s*" + _ID + rb"\s*\}\s*\Z")


class Refused(Exception):
    """Raised for a line that is no request, which is answered under its id where it has one."""

    def __init__(self, code: int, reason: str, request_id: object = None) -> None:
        super().__init__(reason)
        self.error = {"code": code, "message": reason}
        self.request_id = request_id if _is_request_id(request_id) else None


class Stdio:
    """A pair of descriptors carries the protocol and nothing else."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._in, self._out = incoming, outgoing
        self._writing = threading.Lock()

    @classmethod
    def claimed(cls) -> "Stdio":
        """Take the process's stdin and stdout: children then read nothing, and whatever prints goes to stderr."""
        stdio = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return stdio

    def write(self, line: bytes) -> None:
        """Write a whole line, from any thread. A client that no longer reads is told nothing more."""
        rest = memoryview(line + b"\n")
        with self._writing, contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._out, rest) :]

    def takes(self, line: bytes) -> bool:
        """Say whether writing a line now blocks nobody: a pipe with room has it for `PIPE_BUF` bytes at least."""
        if len(line) >= getattr(select, "PIPE_BUF", 0):
            return False
        _, room, _ = select.select((), (self._out,), (), 0)
        return bool(room)

    def reply(self, request_id: object, **outcome: object) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": request_id, **outcome}, separators=(",", ":")).encode())

    def messages(self) -> Iterator[Message]:
        """Yield what the client sends until it closes; what is no message is refused and passed over."""
        for line, whole in self._lines():
            try:
                if not whole:
                    raise _too_large(line)
                if line.strip():
                    yield parse(line)
            except Refused as refused:
                self.reply(refused.request_id, error=refused.error)

    def _lines(self) -> Iterator[tuple[bytes, bool]]:
        """Yield lines, and whether they are whole: of one over the limit only its two ends are held."""
        held, whole = bytearray(), True
        while chunk := os.read(self._in, _CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                whole = _hold(held, end, whole=whole)
                yield bytes(held), whole
                held, whole = bytearray(), True
            whole = _hold(held, rest, whole=whole)
        yield bytes(held), whole


def _hold(held: bytearray, more: bytes, *, whole: bool) -> bool:
    held += more
    if whole and len(held) <= MAX_MESSAGE_BYTES:
        return True
    del held[_END:-_END]
    return False


def _too_large(ends: bytes) -> Refused:
    """Find the id, which clients put first or last, though the message was not kept."""
    found = _FIRST_ID.match(ends) or _LAST_ID.search(ends, len(ends) - _END)
    request_id = json.loads(found[1]) if found else None
    return Refused(_INVALID_REQUEST, f"Invalid Request: a message has at most {MAX_MESSAGE_BYTES} bytes", request_id)


def parse(line: bytes) -> Message:
    """Return the message on a line. Raises Refused."""
    try:
        message = json.loads(line.decode(), parse_constant=_no_json)
        if b"\\u" in line:
            json.dumps(message, ensure_ascii=False).encode()  # half a surrogate pair could never be sent on
    except (ValueError, RecursionError) as error:
        raise Refused(_PARSE_ERROR, f"Parse error: {error}") from None
    if not isinstance(message, dict):
        raise Refused(_INVALID_REQUEST, "Invalid Request: a message is one JSON object on a line; there are no batches")
    _check(message)
    return message


def _no_json(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


def _check(message: Message) -> None:
    request_id, params = message.get("id"), message.get("params")
    if message.get("jsonrpc") != "2.0":
        raise Refused(_INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"', request_id)
    if "method" not in message and "id" in message and ("result" in message or "error" in message):
        return
    if not isinstance(message.get("method"), str):
        raise Refused(_INVALID_REQUEST, 'Invalid Request: "method" must be a string', request_id)
    if "id" in message and not _is_request_id(request_id):
        raise Refused(_INVALID_REQUEST, 'Invalid Request: "id" must be a string or an integer')
    if params is not None and not isinstance(params, dict):
        raise Refused(_INVALID_PARAMS, 'Invalid params: "params" must be an object', request_id)


def _is_request_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)
