"""Relays connections to a port, and cuts them when a test says so, as a network does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_CHUNK_BYTES = 65_536


class Cuttable:
    """A port in front of another one, whose connections a test can cut."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self.accepts = True
        self.connections = 0
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Cut every connection, with nothing said."""
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.accepts:
            writer.transport.abort()
            return
        self.connections += 1
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, other_writer}
        await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))
        self._open -= {writer, other_writer}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def cuttable(port: int) -> AsyncIterator[Cuttable]:
    relay = Cuttable(port)
    server = await asyncio.start_server(relay.relay, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        relay.cut()
        await server.wait_closed()
