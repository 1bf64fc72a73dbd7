"""A client holds a stream of events, by which the service knows that it is there."""

import asyncio
import contextlib
from typing import Final, Protocol

import httpx
from httpx_sse import ServerSentEvent

from client.http import UNREACHED, ServiceClient
from client.unavailable import not_running
from shared.errors import ServiceUnavailable

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 3.0
_UP_WITHIN_S: Final = 2.0


class Listener(Protocol):
    """A listener is told of a stream and of what comes in it."""

    async def came_up(self) -> None:
        """Take in that the stream is up; events may have been missed before."""

    async def heard(self, event: ServerSentEvent) -> None: ...

    def unreached(self, error: ServiceUnavailable) -> None: ...


class EventStream:
    """Keeps one stream up. A call never waits long for it, nor fails because it is down."""

    def __init__(self, service: ServiceClient, listener: Listener) -> None:
        self._service = service
        self._listener = listener
        self._up = asyncio.Event()
        self._tried = asyncio.Event()
        self._wanted = asyncio.Event()

    async def ready(self) -> None:
        """Wait until the stream is up or has just failed, so that the service knows whose call comes next."""
        if self._up.is_set():
            return
        self._tried.clear()
        self._wanted.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), _UP_WITHIN_S)

    async def hold(self) -> None:
        """Keep the stream up until cancelled, once the service is there."""
        try:
            await self._service.started()
        except ServiceUnavailable as error:
            self._listener.unreached(error)
        pause = _FIRST_PAUSE_S
        while True:
            await self._listen()
            pause = _FIRST_PAUSE_S if self._up.is_set() else pause
            self._up.clear()
            self._tried.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), pause)
            self._wanted.clear()
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _listen(self) -> None:
        """Hear one stream to its end."""
        try:
            async with self._service.events() as events:
                self._up.set()
                self._tried.set()
                await self._listener.came_up()
                async for event in events:
                    await self._listener.heard(event)
        except httpx.ConnectError as error:
            self._listener.unreached(not_running(self._service.url, str(error)))
        except ServiceUnavailable as error:
            self._listener.unreached(error)
        except UNREACHED:
            pass  # it ended, or was refused: a call tells why
