"""Holds a client's stream of events, by which the service knows that the client is present."""

import asyncio
import contextlib
from typing import Final, Protocol

import httpx
from httpx_sse import ServerSentEvent

from client.http import UNREACHED, ServiceClient
from client.unavailable import not_running
from shared.errors import ServiceUnavailable

_FIRST_RETRY_S: Final = 0.2
_LAST_RETRY_S: Final = 3.0
_OPEN_WITHIN_S: Final = 2.0


class Listener(Protocol):
    """Whoever hears a stream's events, and whether it is open."""

    async def on_open(self) -> None:
        """Called whenever the stream opens; events before may have been missed."""

    async def on_event(self, event: ServerSentEvent) -> None: ...

    def on_unavailable(self, error: ServiceUnavailable) -> None: ...


class EventStream:
    """One stream that stays open. A call never waits long for it, nor fails because it is closed."""

    def __init__(self, service: ServiceClient, listener: Listener) -> None:
        self._service = service
        self._listener = listener
        self._open = asyncio.Event()
        self._tried = asyncio.Event()
        self._retry_now = asyncio.Event()
        self._hears_pages = False
        self._reading: asyncio.Timeout | None = None
        """Ends the stream that is being opened or read; None while there is none."""

    async def hear_pages(self) -> None:
        """Hear of pages from now on, on a new stream: most clients never ask, and each event costs both sides."""
        if not self._hears_pages:
            self._hears_pages = True
            self.renew()
        await self.ready()

    def renew(self) -> None:
        """Be present on a new stream, with the name that the client has now."""
        self._open.clear()
        if self._reading and not self._reading.expired():
            self._reading.reschedule(asyncio.get_running_loop().time())

    async def ready(self) -> None:
        """Wait until the stream is open or has just failed, so that the service knows whose call comes next."""
        if self._open.is_set():
            return
        self._tried.clear()
        self._retry_now.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), _OPEN_WITHIN_S)

    async def hold(self) -> None:
        """Keep the stream open until cancelled, once the service runs."""
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
        """Read one stream to its end. Returns whether it ended because another is wanted, and nobody has failed."""
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
            pass  # it ended, or was refused: a call tells why
        finally:
            self._reading = None
        return reading.expired()
