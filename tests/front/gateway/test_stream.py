"""Tests the connections by which calls go to the service."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpcore
import pytest

from browse_together.client.proven import PlainStream
from tests.support.tab import closed_port
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

WITHIN_S = 10
LARGE = b"x" * 20_000_000

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def connected(serve: Serve) -> AsyncIterator[PlainStream]:
    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await serve(reader, writer)
        writer.close()
        ended.set()

    ended = asyncio.Event()
    async with await asyncio.start_server(conversation, "127.0.0.1", 0) as server:
        stream = await PlainStream.open("127.0.0.1", server.sockets[0].getsockname()[1], WITHIN_S)
        yield stream
        await stream.aclose()
        await asyncio.wait_for(ended.wait(), WITHIN_S)


async def test_head_and_body_of_a_request_arrive_in_one_piece() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(1_000))

    async with connected(serve) as stream:
        await stream.write(b"head ", WITHIN_S)
        await stream.write(b"body", WITHIN_S)
        assert await stream.read(1_000, WITHIN_S) == b"head body"


async def test_an_answer_that_comes_before_the_body_is_whole_is_read() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"too large")
        await writer.drain()
        writer.write_eof()
        while await reader.read(1_000_000):
            pass

    async with connected(serve) as stream:
        await stream.write(LARGE, WITHIN_S)
        assert await stream.read(1_000, WITHIN_S) == b"too large"
        assert await stream.read(1_000, WITHIN_S) == b""
        assert stream.get_extra_info("is_readable")


async def test_who_reads_nothing_and_says_nothing_is_waited_for_as_long_as_is_set() -> None:
    silent = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:  # noqa: ARG001 - it is silent
        await silent.wait()

    async with connected(serve) as stream:
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(LARGE, 0.05)
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(1_000, 0.05)
        silent.set()


async def test_a_connection_that_breaks_or_is_refused_is_an_error_of_httpcore() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)

    async with connected(serve) as stream:
        await stream.write(b"request")
        with pytest.raises(httpcore.ReadError):
            await stream.read(1_000, WITHIN_S)
    with pytest.raises(httpcore.ConnectError):
        await PlainStream.open("127.0.0.1", closed_port(), WITHIN_S)


async def test_a_request_on_a_connection_that_has_just_been_reset_is_an_error_of_httpcore() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reset = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)

    async with connected(serve) as stream:
        await become(lambda: bool(stream.get_extra_info("is_readable")))
        await stream.write(b"request")
        with pytest.raises(httpcore.ReadError):
            await stream.read(1_000, WITHIN_S)
        with pytest.raises(httpcore.WriteError):
            await stream.write(LARGE, WITHIN_S)


async def test_an_answer_that_nobody_has_asked_for_is_never_taken_for_that_to_the_next_request() -> None:
    """A proxy that grows tired of an idle connection says so before it closes it."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1_000)
        writer.write(b"answer")
        await reader.read(1_000)
        writer.write(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        await over.wait()

    async with connected(serve) as stream:
        await stream.write(b"request")
        assert await stream.read(1_000, WITHIN_S) == b"answer"
        assert not stream.get_extra_info("is_readable")
        await stream.write(b"x" * 70_000, WITHIN_S)
        await become(lambda: bool(stream.get_extra_info("is_readable")))
        over.set()
