"""A call's cancel: it ends what runs within its scope at once, without a task that waits for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Cancel:
    """Requested once, and for good."""

    def __init__(self) -> None:
        self.requested = False
        self.ending = False
        """Whether it is the service that ends, and not the caller's wish."""
        self._scopes: set[asyncio.Timeout] = set()
        self._left: dict[asyncio.Timeout, float] = {}

    def request(self, *, ending: bool = False) -> None:
        self.ending = ending and not self.requested
        self.requested = True
        for scope in self._scopes:
            self._end(scope)

    def pause(self) -> None:
        """What a dialog takes is not the call's own time."""
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            if (when := scope.when()) is not None and not self.requested and not scope.expired():
                self._left[scope] = when - now
                scope.reschedule(None)

    def resume(self) -> None:
        now = asyncio.get_running_loop().time()
        for scope, left in self._left.items():
            if scope in self._scopes and not self.requested and not scope.expired():
                scope.reschedule(now + left)
        self._left.clear()

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
