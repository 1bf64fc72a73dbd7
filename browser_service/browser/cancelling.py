"""A call's cancel: it ends what runs within its scope at once, without a task that waits for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Cancel:
    """Requested once, and for good."""

    def __init__(self) -> None:
        self.requested = False
        self._scopes: set[asyncio.Timeout] = set()

    def request(self) -> None:
        self.requested = True
        for scope in self._scopes:
            self._end(scope)

    @asynccontextmanager
    async def within(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Raises TimeoutError when the time is over or the call is cancelled: `requested` says which."""
        async with asyncio.timeout(seconds) as scope:
            self._scopes.add(scope)
            if self.requested:
                self._end(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)

    @staticmethod
    def _end(scope: asyncio.Timeout) -> None:
        if not scope.expired():
            scope.reschedule(asyncio.get_running_loop().time())
