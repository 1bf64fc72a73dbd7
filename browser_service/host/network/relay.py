"""Carries bytes between two connections, and changes in a message's head what concerns one connection alone."""

import asyncio
import contextlib
import re
from typing import Final

MOST_HEAD: Final = 262_144
"""Bounds the head of a message, and what waits on the way in one direction."""
_PIECE: Final = 65_536
_TLS_HANDSHAKE: Final = b"\x16"
_TLS_HEAD: Final = 5
_OF_CONNECTION: Final = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"})
_STILL_COMING: Final = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d ")
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class BadHeadError(Exception):
    """Says that a message has no head that can be read."""


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """Read a message's head, with the empty line at its end. Raises BadHeadError."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise BadHeadError from None


async def read_start(reader: asyncio.StreamReader) -> bytes:
    """Read how a browser begins in a tunnel: the greeting of TLS, or a message's head. Raises BadHeadError."""
    try:
        first = await reader.readexactly(1)
        if not is_encrypted(first):
            return first + await read_head(reader)
        first += await reader.readexactly(_TLS_HEAD - 1)
        return first + await reader.readexactly(int.from_bytes(first[-2:]))
    except asyncio.IncompleteReadError:
        raise BadHeadError from None


def is_encrypted(start: bytes) -> bool:
    return start[:1] == _TLS_HANDSHAKE


def offers_http2(greeting: bytes) -> bool:
    """Return whether a browser's greeting of TLS is for pages: for a WebSocket it offers HTTP/1.1 alone."""
    return b"\x02h2" in greeting


def with_headers(head: bytes, target: bytes, more: bytes = b"") -> bytes:
    """Return a request's head for the next hop: with another target, further headers, and for one request alone."""
    method, _, version = head.split(b"\r\n", 1)[0].split(b" ")
    return b" ".join((method, target, version)) + b"\r\n" + more + _closing(head)


async def both_ways(one: Connection, other: Connection) -> None:
    """Carry bytes until one side ends, as browsers and servers of the web do in whole."""
    ways = [asyncio.create_task(_carry(one[0], other[1])), asyncio.create_task(_carry(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def one_answer(browser: Connection, server: Connection) -> None:
    """Carry a request's body, and the answer to it, after which the connection ends. Raises BadHeadError, OSError."""
    answer, body = asyncio.create_task(_answer(browser, server)), asyncio.create_task(_carry(browser[0], server[1]))
    try:
        await asyncio.wait({answer, body}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            answer.result()
    finally:
        for way in (answer, body):
            way.cancel()
        await asyncio.gather(answer, body, return_exceptions=True)


async def _answer(browser: Connection, server: Connection) -> None:
    while _STILL_COMING.match(head := await read_head(server[0])):
        browser[1].write(head)
    browser[1].write(head.split(b"\r\n", 1)[0] + b"\r\n" + _closing(head))
    await _carry(server[0], browser[1])


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes in one direction, no faster than they are taken."""
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


def _closing(head: bytes) -> bytes:
    """Return a head's fields for a connection that ends with this message, without those of the last hop."""
    fields = head.split(b"\r\n")[1:-2]
    kept = [field for field in fields if field.partition(b":")[0].strip().lower() not in _OF_CONNECTION]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])
