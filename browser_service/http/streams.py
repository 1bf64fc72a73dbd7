"""Streams events to clients, each of which may have a bounded number of streams."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from sse_starlette import EventSourceResponse
from starlette.types import Receive, Scope, Send

from browse_together.contract.errors import RateLimited

MOST_STREAMS: Final = 32
_PING_S: Final = 15


class EventStream(EventSourceResponse):
    """An event stream to one client. Raises RateLimited if the client has too many."""

    def __init__(self, events: AsyncIterator[dict[str, str]], open_streams: Counter[str], client_id: str) -> None:
        super().__init__(events, ping=_PING_S)
        self._open_streams = open_streams
        self._client_id = client_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open_streams[self._client_id] >= MOST_STREAMS:
            raise RateLimited(
                f"This client has {MOST_STREAMS} streams of events open already.", hint="End one, or read on there."
            )
        self._open_streams[self._client_id] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._open_streams.subtract([self._client_id])
            if not self._open_streams[self._client_id]:
                del self._open_streams[self._client_id]
