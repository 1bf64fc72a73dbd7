"""Reads and writes lines on a pair of file descriptors; each line carries one JSON-RPC message."""

import contextlib
import os
import select
import sys
import threading
from collections.abc import Iterator
from typing import Final

from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import InvalidMessage, Message
from shared.wire import MAX_MESSAGE_BYTES

_CHUNK_BYTES: Final = 65_536


class Descriptors:
    """Holds the two descriptors that carry the protocol and nothing else."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._stdin, self._stdout = stdin, stdout
        self._write_lock = threading.Lock()

    @classmethod
    def claim(cls) -> "Descriptors":
        """Take the process's stdin and stdout: children then read nothing, and whatever prints goes to stderr."""
        descriptors = cls(os.dup(0), os.dup(1))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return descriptors

    def write(self, line: bytes) -> None:
        """Write a line, from any thread. A client that has stopped reading gets nothing more."""
        rest = memoryview(line + b"\n")
        with self._write_lock, contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._stdout, rest) :]

    def can_write(self, line: bytes) -> bool:
        """Return whether writing a line now cannot block: a pipe with room takes at least `PIPE_BUF` bytes."""
        if len(line) >= getattr(select, "PIPE_BUF", 0):
            return False
        _, writable, _ = select.select((), (self._stdout,), (), 0)
        return bool(writable)

    def messages(self) -> Iterator[Message]:
        """Yield the client's messages until it closes. Each line that is no message gets an error in reply."""
        for line, is_complete in self._lines():
            try:
                if not is_complete:
                    raise jsonrpc.too_large(line, MAX_MESSAGE_BYTES)
                if line.strip():
                    yield jsonrpc.parse(line)
            except InvalidMessage as invalid:
                self.write(jsonrpc.response(invalid.request_id, error=invalid.error))

    def _lines(self) -> Iterator[tuple[bytes, bool]]:
        """Yield each line, and whether it is complete: only the two ends of one over the limit are kept."""
        line, is_complete = bytearray(), True
        while chunk := os.read(self._stdin, _CHUNK_BYTES):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                is_complete = _extend(line, end, is_complete=is_complete)
                yield bytes(line), is_complete
                line, is_complete = bytearray(), True
            is_complete = _extend(line, rest, is_complete=is_complete)
        yield bytes(line), is_complete


def _extend(line: bytearray, piece: bytes, *, is_complete: bool) -> bool:
    """Add a piece to a line, and return whether the line is still complete."""
    line += piece
    if is_complete and len(line) <= MAX_MESSAGE_BYTES:
        return True
    del line[jsonrpc.END_BYTES : -jsonrpc.END_BYTES]
    return False
