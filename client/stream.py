"""A connection for httpcore on asyncio's streams: the usual layers take a third of a call's time here."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import Final, Self, SupportsIndex

import httpcore

_MOST_HELD_BYTES: Final = 65_536


class _Reader(asyncio.StreamReader):
    """A reader that counts its bytes, to detect data that no request asked for."""

    came = 0

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        self.came += len(bytes(data))
        super().feed_data(data)


class PlainStream(httpcore.AsyncNetworkStream):
    """A connection without TLS. Head and body of a request are sent together, because each piece wakes the service."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._read = 0
        self._held: list[bytes] = []
        self._held_bytes = 0

    @classmethod
    async def open(cls, host: str, port: int, within_s: float | None) -> Self:
        """Connect. Raises ConnectTimeout, ConnectError."""
        loop = asyncio.get_running_loop()
        reader = _Reader(loop=loop)
        with _errors(httpcore.ConnectTimeout, httpcore.ConnectError):
            async with asyncio.timeout(within_s):
                transport, protocol = await loop.create_connection(
                    lambda: asyncio.StreamReaderProtocol(reader, loop=loop), host, port
                )
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's signature
        if self._held:
            with contextlib.suppress(httpcore.WriteError):  # an answer sent before the close can be read
                await self._send(timeout)
        with _errors(httpcore.ReadTimeout, httpcore.ReadError):
            async with asyncio.timeout(timeout):
                read = await self._reader.read(max_bytes)
        self._read += len(read)
        return read

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as above
        """Hold the data until the answer is read, as happens after every request."""
        self._held.append(buffer)
        self._held_bytes += len(buffer)
        if self._held_bytes > _MOST_HELD_BYTES:
            await self._send(timeout)

    async def aclose(self) -> None:
        self._writer.transport.abort()
        await asyncio.sleep(0)  # lets asyncio close the socket

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":  # true: the idle connection is closed or has stray data
            return self._reader.came > self._read or self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info("peername") if info == "server_addr" else None

    async def _send(self, within_s: float | None) -> None:
        held, self._held, self._held_bytes = b"".join(self._held), [], 0
        if self._writer.is_closing():  # uvloop would raise an error that is not a connection error
            raise httpcore.WriteError("The connection is closed.")
        with _errors(httpcore.WriteTimeout, httpcore.WriteError):
            async with asyncio.timeout(within_s):
                self._writer.write(held)
                await self._writer.drain()


@contextlib.contextmanager
def _errors(late: type[httpcore.TimeoutException], broken: type[httpcore.NetworkError]) -> Iterator[None]:
    """Turn connection errors into httpcore's."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error
