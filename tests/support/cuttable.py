"""Relays connections to a port, and delays, stops or cuts them when a test says so, as a network does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

_CHUNK_BYTES = 65_536

Way = Literal["there", "back"]


class Cuttable:
    """A port in front of another one, whose connections a test can disturb."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self.accepts = True
        self.connections = 0
        self.delay_s = 0.0
        """How much later each piece arrives, either way."""
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()
        self._ours: set[asyncio.StreamWriter] = set()
        """Among the open ones, those to the other port."""
        self._silent: set[asyncio.StreamWriter] = set()
        """Those whose other half is cut, of which nothing is said."""
        self._flows: dict[Way, asyncio.Event] = {"there": asyncio.Event(), "back": asyncio.Event()}
        self.go_on()

    def cut(self) -> None:
        """Cut every connection, with nothing said."""
        for writer in self._open | self._silent:
            writer.transport.abort()
        self._open.clear()
        self._silent.clear()

    def half_open(self) -> None:
        """Cut the other half of every connection. Whoever dialled hears nothing, and still has it."""
        self._silent |= self._open - self._ours
        for writer in self._ours:
            writer.transport.abort()
        self._open.clear()

    def stop(self, *ways: Way) -> None:
        """Let nothing pass any more in these directions. The connections stay open."""
        for way in ways:
            self._flows[way].clear()

    def go_on(self) -> None:
        for flow in self._flows.values():
            flow.set()

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.accepts:
            writer.transport.abort()
            return
        self.connections += 1
        try:
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, other_writer}
        self._ours.add(other_writer)
        await asyncio.gather(self._copy(reader, other_writer, "there"), self._copy(other_reader, writer, "back"))
        self._open -= {writer, other_writer}
        self._ours.discard(other_writer)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._flows[way].wait()
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)  # this way is long on purpose
                writer.write(data)
                await writer.drain()
        if writer not in self._silent:
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
        relay.go_on()
        relay.cut()
        await server.wait_closed()
