"""Tests the socket that the service listens on."""

import asyncio
import socket
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from browser_service.http.protocol import BoundedHttp
from browser_service.process import AlreadyRunning, CannotStart, bind
from tests.support.listening import PATIENCE_S
from tests.support.service import settings_for

pytestmark = pytest.mark.anyio


async def test_a_reply_in_two_parts_does_not_wait_for_the_acknowledgement_of_the_first(tmp_path: Path) -> None:
    delays: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        delays.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bind(settings_for(tmp_path).model_copy(update={"port": 0}))
    async with await asyncio.start_server(accepted, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await asyncio.wait_for(delays, PATIENCE_S) == 1
        writer.close()
        await writer.wait_closed()


async def test_a_request_whose_headers_never_end_is_cut_off_and_a_long_one_is_served() -> None:
    async def app(_: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, http="browser_service.http.protocol:BoundedHttp", log_config=None)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: BoundedHttp(config, state, {}), "127.0.0.1") as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for _ in range(3):
            head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nX-Long: " + b"x" * 40_000
            writer.write(head + b"\r\n\r\n" + b"y" * 2_000_000)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK")
        writer.write(b"GET / HTTP/1.1\r\nX-Endless: ")
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(_write_on(writer), 20)


async def _write_on(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()


def test_a_port_that_is_taken_is_named_with_the_way_out(tmp_path: Path) -> None:
    with bind(settings_for(tmp_path).model_copy(update={"port": 0})) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(AlreadyRunning, match=rf"Port {port} on 127.0.0.1 .* --port"):
            bind(settings_for(tmp_path).model_copy(update={"port": port}))


def test_an_address_of_another_machine_is_named_and_not_its_port(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"--host 192\.0\.2\.1 is no address of this machine"):
        bind(settings_for(tmp_path).model_copy(update={"host": "192.0.2.1", "port": 0}))
