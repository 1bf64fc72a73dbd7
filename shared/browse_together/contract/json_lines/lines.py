"""Reads and writes lines of limited length on a pair of file descriptors."""

import json
import os
import re
import select
import sys
import threading
from collections.abc import Iterator
from typing import Final, Self

from browse_together.contract.wire import MAX_MESSAGE_BYTES

CHUNK_BYTES: Final = 65_536
END_BYTES: Final = 512
"""The bytes kept of each end of a message over the limit."""
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,256}")(?=\s*[,}])'
_FIRST_ID: Final = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|type)"\s*:\s*"[\w.]{1,16}"\s*,\s*)?' + _ID)
_LAST_ID: Final = re.compile(rb",\s*" + _ID + rb"\s*\}\s*\Z")


class Lines:
    """The two descriptors of a protocol, which carry nothing else."""

    def __init__(self, stdin: int, stdout: int, most_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.most_bytes = most_bytes
        self.stdin, self.stdout = stdin, stdout
        self._write_lock = threading.Lock()

    @classmethod
    def claim(cls) -> Self:
        """Claim the process's stdin and stdout. Children then read nothing, and all other output goes to stderr."""
        lines = cls(os.dup(0), os.dup(1))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return lines

    def write(self, line: bytes) -> bool:
        """Write a line, from any thread. Returns whether it was written: a client that has stopped reading gets nothing
        more."""
        rest = memoryview(line + b"\n")
        with self._write_lock:
            try:
                while rest:
                    rest = rest[os.write(self.stdout, rest) :]
            except OSError:
                return False
        return True

    @property
    def is_read(self) -> bool:
        """Return whether anything can still read our output, as far as this system can tell."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self.stdout, 0)  # reports at least errors and the end
        return not poll.poll(0)

    def read(self) -> Iterator[tuple[bytes, bool]]:
        """Yield each line, and whether it is complete. Of a line over the limit, only its two ends are kept."""
        line, is_complete, is_open = bytearray(), True, True
        while is_open:
            chunk = os.read(self.stdin, CHUNK_BYTES)
            is_open = bool(chunk)
            pieces = (chunk or b"\n").split(b"\n")  # the end of input also ends a line
            for number, piece in enumerate(pieces, 1):
                line += piece
                if not is_complete or len(line) > self.most_bytes:
                    is_complete = False
                    del line[END_BYTES:-END_BYTES]
                if number < len(pieces):
                    yield bytes(line).removeprefix(BYTE_ORDER_MARK), is_complete
                    line, is_complete = bytearray(), True


def id_in(ends: bytes) -> object:
    """Return the id of a message over the limit, if one of its ends contains it: clients put it first or last."""
    found = _FIRST_ID.match(ends) or _LAST_ID.search(ends, max(len(ends) - END_BYTES, 0))
    return json.loads(found[1]) if found else None
