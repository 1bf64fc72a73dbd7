"""A proxy that speaks HTTP and SOCKS 5, records what is requested of it, and connects only to this machine."""

import asyncio
import contextlib
import socket
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

_HERE: Final = ("127.0.0.1", "localhost")
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    def __init__(self) -> None:
        self.asked: list[str] = []
        """The places, as host:port."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve((reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: Connection) -> None:
        reader, writer = client
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.readexactly(1)
            await (self._socks(client) if first == b"\5" else self._http(client, first))
        writer.close()

    async def _http(self, client: Connection, first: bytes) -> None:
        head = first + await client[0].readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        is_tunnel = method == "CONNECT"
        url = urlsplit(f"//{target}" if is_tunnel else target)
        server = await self._connect(str(url.hostname), url.port or 80)
        if server is None:
            client[1].write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
            return
        client[1].write(b"HTTP/1.1 200 OK\r\n\r\n" if is_tunnel else b"")
        server[1].write(b"" if is_tunnel else head)
        await _both_ways(client, server)

    async def _socks(self, client: Connection) -> None:
        reader, writer = client
        await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\5\0")
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            family, length = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(length))
        server = await self._connect(host, int.from_bytes(await reader.readexactly(2)))
        writer.write(b"\5" + (b"\0" if server else b"\5") + b"\0\1" + bytes(6))
        if server is not None:
            await _both_ways(client, server)

    async def _connect(self, host: str, port: int) -> Connection | None:
        self.asked.append(f"{host}:{port}")
        return await asyncio.open_connection(host, port) if host in _HERE else None


async def _both_ways(one: Connection, other: Connection) -> None:
    ways = [asyncio.create_task(_carry(one[0], other[1])), asyncio.create_task(_carry(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        other[1].close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
