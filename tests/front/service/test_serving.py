"""Tests the socket that the service listens on."""

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.data_files import JOURNAL_FILE
from browser_service.process import AlreadyRunning, CannotStart, bind
from tests.support.listening import listening
from tests.support.service import settings_for
from tests.support.waiting import PATIENCE_S

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


def test_a_port_that_is_taken_is_named_with_the_way_out(tmp_path: Path) -> None:
    with bind(settings_for(tmp_path).model_copy(update={"port": 0})) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(AlreadyRunning, match=rf"Port {port} on 127.0.0.1 .* --port"):
            bind(settings_for(tmp_path).model_copy(update={"port": port}))


def test_an_address_of_another_machine_is_named_and_not_its_port(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"--host 192\.0\.2\.1 is no address of this machine"):
        bind(settings_for(tmp_path).model_copy(update={"host": "192.0.2.1", "port": 0}))


@pytest.mark.thorough
async def test_a_strangers_handshake_that_cannot_be_read_lets_the_service_end_in_order(tmp_path: Path) -> None:
    log = tmp_path / f"{JOURNAL_FILE}-wal"
    sent = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    async with listening(tmp_path) as service:
        _, writer = await asyncio.open_connection("127.0.0.1", service.settings.port)
        writer.write(f"{sent}Transfer-Encoding: chunked\r\n\r\n".encode())
        async with httpx.AsyncClient(base_url=service.base_url, trust_env=False) as http:
            assert (await http.get(wire.HEALTH)).is_success  # so that the other one has been read, too
        assert await asyncio.to_thread(log.exists)
    assert not await asyncio.to_thread(log.exists)  # the database was closed
    writer.close()
