"""Opens one connection of each client at a time: opening takes 30 ms, for which everybody waits."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator


class Turnstile:
    """The queues of the clients that open connections, one a client."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._waiting = Counter[str]()

    @contextlib.asynccontextmanager
    async def passed(self, client: str) -> AsyncIterator[None]:
        """Wait for this client's turn, and let no other connection of it open within the block."""
        lock = self._locks.setdefault(client, asyncio.Lock())
        self._waiting[client] += 1
        try:
            async with lock:
                yield
                await asyncio.sleep(0)  # the others have their turn before this client's next
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client], self._locks[client]
