"""Tests the socket that the service listens on."""

import asyncio
import socket
from pathlib import Path

import pytest

from browser_service.process import AlreadyRunning, bind
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
        assert await asyncio.wait_for(delays, 5) == 1
        writer.close()
        await writer.wait_closed()


def test_a_port_that_is_taken_is_named_with_the_way_out(tmp_path: Path) -> None:
    with bind(settings_for(tmp_path).model_copy(update={"port": 0})) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(AlreadyRunning, match=rf"Port {port} on 127.0.0.1 .* --port"):
            bind(settings_for(tmp_path).model_copy(update={"port": port}))
