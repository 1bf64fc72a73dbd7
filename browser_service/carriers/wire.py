"""What a link is made of: a WebSocket, the messages that wait to be sent over it, and how fast it is read."""

import asyncio
from collections import deque
from typing import Final, Protocol

_BYTES_A_SECOND: Final = 20_000_000
_BYTES_A_MESSAGE: Final = 4_000
"""What a message costs beside its bytes."""
_BURST_S: Final = 2.0


class LinkLost(Exception):
    """The link has ended, or was never there. `sent` says whether the other side may have got the call."""

    def __init__(self, reason: str, *, sent: bool = True) -> None:
        super().__init__(reason)
        self.sent = sent


class NotOwner(Exception):
    """The host did nothing, because its lease has ended."""


class Wire(Protocol):
    """A WebSocket, whose messages are bytes."""

    async def send(self, text: bytes) -> None:
        """Send a message, as soon as the other side reads. Raises LinkLost."""

    async def receive(self) -> bytes:
        """Return the next message. Raises LinkLost, or InvalidRequest for one of another kind."""


class Outbox:
    """The messages that wait to be sent."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._messages = deque[bytes]()
        self._filled = asyncio.Event()

    def put(self, message: bytes) -> None:
        if self._bytes + len(message) > self._most:
            raise LinkLost("the other side has stopped reading", sent=False)
        self._bytes += len(message)
        self._messages.append(message)
        self._filled.set()

    async def empty_into(self, wire: Wire) -> None:
        """Send until cancelled."""
        while True:
            while self._messages:
                message = self._messages.popleft()
                await wire.send(message)
                self._bytes -= len(message)
            self._filled.clear()
            await self._filled.wait()


class Pace:
    """How fast messages of one connection are read, so that reading them leaves time for everybody else."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_by = self._loop.time()

    async def keep(self, size: int) -> None:
        """Wait if more came lately than is read in that time."""
        now = self._loop.time()
        self._read_by = max(self._read_by, now - _BURST_S) + (size + _BYTES_A_MESSAGE) / _BYTES_A_SECOND
        if self._read_by > now:
            await asyncio.sleep(self._read_by - now)  # what is waited for is the time
