"""Maintains a client's stream of events, which shows the service that the client is present."""

import asyncio
import contextlib
from typing import Final

import httpx
from httpx_sse import ServerSentEvent

from browse_together.client.http import UNREACHED, ServiceClient
from browse_together.client.unavailable import not_running
from browse_together.contract.errors import ServiceUnavailable

_FIRST_RETRY_S: Final = 0.2
_LAST_RETRY_S: Final = 3.0
_OPEN_WITHIN_S: Final = 2.0


class Listener:
    """The receiver of a stream's events. This one ignores them."""

    async def on_open(self) -> None:
        """Called whenever the stream opens. Earlier events may have been missed."""

    async def on_event(self, event: ServerSentEvent) -> None:
        """Called with each event."""

    def on_unavailable(self, error: ServiceUnavailable) -> None:
        """Called if the service cannot be reached; so does a call then fail."""


class EventStream:
    """A stream that is reopened whenever it closes. A call waits at most briefly for it, and never fails because it is
    closed."""

    def __init__(self, service: ServiceClient, listener: Listener) -> None:
        self._service = service
        self._listener = listener
        self._open = asyncio.Event()
        self._tried = asyncio.Event()
        self._retry_now = asyncio.Event()
        self._hears_pages = False
        self._reading: asyncio.Timeout | None = None
        """The timeout around the stream while it is opened or read; expiring it ends the stream. None without a
        stream."""

    async def hear_pages(self) -> None:
        """Receive events of pages from now on, by a new stream: most clients never need them, and each event costs both
        sides."""
        if not self._hears_pages:
            self._hears_pages = True
            self.renew()
        await self.ready()

    def renew(self) -> None:
        """Open a new stream, with the client's present name."""
        self._open.clear()
        if self._reading and not self._reading.expired():
            self._reading.reschedule(asyncio.get_running_loop().time())

    async def ready(self) -> None:
        """Wait until the stream is open or has just failed, so that the service learns of the client before its next
        call."""
        if self._open.is_set():
            return
        self._tried.clear()
        self._retry_now.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), _OPEN_WITHIN_S)

    async def hold(self) -> None:
        """Keep the stream open until cancelled, beginning once the service runs."""
        try:
            await self._service.started()
        except ServiceUnavailable as error:
            self._listener.on_unavailable(error)
        retry_s = _FIRST_RETRY_S
        while True:
            if await self._listen():
                continue
            retry_s = _FIRST_RETRY_S if self._open.is_set() else retry_s
            self._open.clear()
            self._tried.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._retry_now.wait(), retry_s)
            self._retry_now.clear()
            retry_s = min(retry_s * 2, _LAST_RETRY_S)

    async def _listen(self) -> bool:
        """Read one stream to its end. Returns whether it was ended to open another one, and not by a failure."""
        reading = asyncio.timeout(None)
        try:
            async with reading as self._reading, self._service.events(pages=self._hears_pages) as events:
                self._open.set()
                self._tried.set()
                await self._listener.on_open()
                async for event in events:
                    await self._listener.on_event(event)
        except httpx.ConnectError as error:
            self._listener.on_unavailable(not_running(self._service.url, str(error)))
        except ServiceUnavailable as error:
            self._listener.on_unavailable(error)
        except UNREACHED:
            pass  # it ended or was refused: a call will report why
        finally:
            self._reading = None
        return reading.expired()
