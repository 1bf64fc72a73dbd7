"""Limits how long a connection may stay open without use: before its request is complete, and while its reply is not
read.

Nobody may keep others out by holding idle connections. So there is no limit on them that could be filled: the
connection that has waited longest makes room for the next.
"""

import asyncio
from typing import Final

HEAD_WITHIN_S: Final = 10.0
"""The most time for a request's head to arrive, counted from its first byte or from the start of the connection."""
READ_WITHIN_S: Final = 20.0
"""The time within which the client must read at least LEAST_READ_BYTES of a reply that cannot be sent at once."""
LEAST_READ_BYTES: Final = 65_536
MOST_WAITING: Final = 2_000
"""The most connections of this process without a request in progress."""
MAX_HEAD_BYTES: Final = 65_536

_WAITING: Final[dict["Patience", None]] = {}
"""The connections without a request in progress, the longest waiting first."""


class Patience:
    """The time limits on the other side of one connection, which is closed if it takes too long."""

    def __init__(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._head: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._unsent = 0
        self.wait()
        if len(_WAITING) > MOST_WAITING:
            next(iter(_WAITING)).give_up()

    def wait(self) -> None:
        """Begin to wait for the rest of a request that has begun, or that was answered before its end."""
        if self._head is None:
            self.rest()
            self._head = self._loop.call_later(HEAD_WITHIN_S, self.give_up)

    def rest(self) -> None:
        """Move the connection to the end of the order in which connections make room."""
        _WAITING[self] = None

    def met(self) -> None:
        """Note that a request's head is complete, so that the request is being answered."""
        _WAITING.pop(self, None)
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def look_at_reader(self) -> None:
        """Check that written data is read, while some of it waits to be sent."""
        unsent = self._transport.get_write_buffer_size()
        if self._reading is None and unsent:
            self._unsent = unsent
            self._reading = self._loop.call_later(READ_WITHIN_S, self._judge_reader)

    def end(self) -> None:
        """Forget the closed connection."""
        self.met()
        if self._reading is not None:
            self._reading.cancel()

    def give_up(self) -> None:
        self.met()
        self._transport.close()
        self.look_at_reader()  # unsent data must not keep it open

    def _judge_reader(self) -> None:
        self._reading = None
        unsent = self._transport.get_write_buffer_size()
        if unsent and self._unsent - unsent < LEAST_READ_BYTES:
            self._transport.abort()
        else:
            self.look_at_reader()
