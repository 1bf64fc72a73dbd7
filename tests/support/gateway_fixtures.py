"""Provides what the gateway's tests share: a stand-in for the service, chats with real gateways, and gateways in
process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from browse_together.client.autostart import Autostart
from browse_together.client.http import ServiceClient
from browse_together.contract import wire
from browse_together.contract.written import fingerprint
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.settings import Settings
from tests.support.chat import Chat, chatting, environment
from tests.support.standin import SECRET, StandIn, listening

__all__ = ["SECRET"]


@pytest.fixture(scope="session")
async def _standin() -> AsyncIterator[StandIn]:
    async with listening(StandIn()) as service:
        yield service


@pytest.fixture
async def standin(_standin: StandIn) -> StandIn:
    _standin.forget()
    return _standin


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Return a data directory with the secret that a service would have made there."""
    (tmp_path / wire.SECRET_FILE).write_text(f"{SECRET}\n", encoding="ascii")
    return tmp_path


@pytest.fixture
def chat(standin: StandIn, data_dir: Path) -> Callable[..., AbstractAsyncContextManager[Chat]]:
    """Starts a gateway process at the stand-in."""

    def start(**settings: str) -> AbstractAsyncContextManager[Chat]:
        return chatting(environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir)) | settings)

    return start


def connection_to(settings: Settings) -> Connection:
    """Return a connection in this process, which starts no service."""
    autostart = Autostart(settings.url, settings.data_dir, enabled=False)
    return Connection(settings, ServiceClient(settings.url, credentials(settings), autostart, fingerprint()))


@pytest.fixture
async def connection(standin: StandIn, data_dir: Path) -> AsyncIterator[Connection]:
    """Return a connection in this process to the stand-in, with its presence held."""
    settings = Settings(url=standin.url, data_dir=data_dir, autostart=False, client_id="tester")
    connection = connection_to(settings)
    presence = asyncio.create_task(connection.chats.own.stream.hold())
    yield connection
    presence.cancel()
    await asyncio.wait([presence], timeout=5)
    await connection.chats.own.service.close(within_s=1)
