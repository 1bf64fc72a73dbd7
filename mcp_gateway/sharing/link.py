"""A launcher's connection to one shared process, which is sent and read what passes at once."""

import socket
import time
from collections import deque
from typing import Final

from mcp_gateway.sharing import frames
from mcp_gateway.sharing.kept import Request

_PIECE_BYTES: Final = 262_144


class Link:
    """Is the connection to one shared process."""

    def __init__(self, connection: socket.socket, socket_id: int, welcome_by: float) -> None:
        self.connection = connection
        self.socket_id = socket_id
        self.is_welcome = False
        self.is_broken = False
        self.give_up_at = welcome_by
        """When the process is given up unless it says something; 0 while nothing is expected of it."""
        self.heard_at = time.monotonic()
        self.frames = frames.Frames()
        self.unsent: deque[tuple[memoryview, Request | None]] = deque()
        self.size = 0
        self._is_deaf = False

    def send(self, data: bytes, request: Request | None = None) -> None:
        if self._is_deaf:
            return
        self.unsent.append((memoryview(data), request))
        self.size += len(data)

    def send_some(self) -> None:
        """Send what the process takes at once."""
        data, request = self.unsent.popleft()
        try:
            sent = self.connection.send(data[:_PIECE_BYTES])
        except BlockingIOError:
            sent = 0
        except OSError:  # it has gone, and what it said before is still to be read
            self._is_deaf, self.size = True, 0
            self.unsent.clear()
            return
        if request and sent:
            request.is_sent = True
        self.size -= sent
        if sent < len(data):
            self.unsent.appendleft((data[sent:], request))

    def receive(self) -> bytes:
        """Return what the process has sent; nothing at its end."""
        try:
            data = self.connection.recv(_PIECE_BYTES)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.is_broken = not data
        self.heard_at = time.monotonic()
        if data and self.is_welcome:
            self.give_up_at = 0
        return data
