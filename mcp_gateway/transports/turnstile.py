"""Opens only one connection of each client at a time, because opening takes 30 ms and blocks everybody."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator


class Turnstile:
    """A queue for each client that opens connections."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._waiting = Counter[str]()

    @contextlib.asynccontextmanager
    async def passed(self, client: str) -> AsyncIterator[None]:
        """Wait for this client's turn, and let it open no other connection during the block."""
        lock = self._locks.setdefault(client, asyncio.Lock())
        self._waiting[client] += 1
        try:
            async with lock:
                yield
                await asyncio.sleep(0)  # let other clients go before this client's next connection
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client], self._locks[client]
