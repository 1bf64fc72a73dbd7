"""Bounds how long a connection may be open for nothing: before its request is whole, and while its reply is not read.

Whoever holds connections that ask for nothing must not keep others out. So there is no limit that they could fill: the
one that has waited longest makes room for the next.
"""

import asyncio
from typing import Final

HEAD_WITHIN_S: Final = 10.0
"""A request's head is whole this soon after its first byte, or after the connection's begin."""
READ_WITHIN_S: Final = 20.0
"""Of a reply that is too long to be sent at once, so many seconds take at least LEAST_READ_BYTES."""
LEAST_READ_BYTES: Final = 65_536
MOST_WAITING: Final = 2_000
"""Connections of this process without a request under way."""
MAX_HEAD_BYTES: Final = 65_536
"""Bytes of a request's target and headers together."""

_WAITING: Final[dict["Patience", None]] = {}
"""The connections without a request under way, the longest waiting first."""


class Patience:
    """Waits for the other side of one connection, and closes it if that takes too long."""

    def __init__(self, transport: asyncio.Transport) -> None:
        """Wait for the first request."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._head: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._unsent = 0
        self.wait()
        if len(_WAITING) > MOST_WAITING:
            next(iter(_WAITING)).give_up()

    def wait(self) -> None:
        """Wait for a request that has begun, or the rest of one that was answered before its end."""
        if self._head is None:
            self.rest()
            self._head = self._loop.call_later(HEAD_WITHIN_S, self.give_up)

    def rest(self) -> None:
        """Have no request under way, in the order of those that make room."""
        _WAITING[self] = None

    def met(self) -> None:
        """Note that the head of a request is whole, which is answered now."""
        _WAITING.pop(self, None)
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def look_at_reader(self) -> None:
        """Watch if what is written is read, as long as some of it waits to be sent."""
        unsent = self._transport.get_write_buffer_size()
        if self._reading is None and unsent:
            self._unsent = unsent
            self._reading = self._loop.call_later(READ_WITHIN_S, self._judge_reader)

    def end(self) -> None:
        """Forget the connection, which is closed."""
        self.met()
        if self._reading is not None:
            self._reading.cancel()

    def give_up(self) -> None:
        self.met()
        self._transport.close()
        self.look_at_reader()  # what is still to be sent must not keep it open

    def _judge_reader(self) -> None:
        self._reading = None
        unsent = self._transport.get_write_buffer_size()
        if unsent and self._unsent - unsent < LEAST_READ_BYTES:
            self._transport.abort()
        else:
            self.look_at_reader()
