"""Reads and writes what the client's ends take at once, for a launcher that waits for several at a time."""

import os
import select
from collections import deque
from collections.abc import Iterator

from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.descriptors import Descriptors
from shared.json_lines.lines import CHUNK_BYTES


class Outbox(Descriptors):
    """Writes no more to stdout than its reader takes at once, so that nobody waits for it."""

    def __init__(self, stdin: int, stdout: int) -> None:
        super().__init__(stdin, stdout)
        self.is_direct = False
        self.unwritten: deque[memoryview] = deque()
        self.size = 0

    def write(self, line: bytes) -> bool:
        if self.is_direct:
            return super().write(line)
        self.unwritten.append(memoryview(line + b"\n"))
        self.size += len(line) + 1
        return True

    def write_some(self) -> None:
        """Write what can be written without waiting. A client that has stopped reading gets nothing more."""
        piece = self.unwritten.popleft()
        try:
            written = os.write(self.stdout, piece[: select.PIPE_BUF])
        except OSError:
            self.unwritten.clear()
            self.size = 0
            return
        self.size -= written
        if written < len(piece):
            self.unwritten.appendleft(piece[written:])

    def go_direct(self) -> None:
        """Write at once from now on, after what is not written yet."""
        self.is_direct = True
        while self.unwritten:
            self.write_some()

    def come(self) -> list[tuple[Message, bytes]]:
        """Return the messages that the client has sent by now, with their lines."""
        poll = select.poll()
        poll.register(self.stdin, select.POLLIN)
        return [*self.messages_in(os.read(self.stdin, CHUNK_BYTES))] if poll.poll(0) else []

    def messages_in(self, chunk: bytes) -> Iterator[tuple[Message, bytes]]:
        """Yield the messages that end in a piece of what is read, with their lines; one without a byte is the end."""
        for line, is_complete in self.feed(chunk):
            if message := self.message(line, is_complete=is_complete):
                yield message, line

    def flush(self) -> None:
        """Write what the client takes at once."""
        poll = select.poll()
        poll.register(self.stdout, select.POLLOUT)
        while self.unwritten and poll.poll(0):
            self.write_some()
