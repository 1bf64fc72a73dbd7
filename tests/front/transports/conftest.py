"""Runs a gateway that listens in this process, before a service whose host has no browser."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from browse_together.client.autostart import Autostart
from mcp_gateway.gateway import Gateway
from mcp_gateway.settings import Settings
from mcp_gateway.transports.listeners import Listeners
from mcp_gateway.transports.settings import TransportSettings
from tests.support import browsers
from tests.support.gateway_fixtures import _standin, data_dir, standin
from tests.support.json import AnyJson
from tests.support.listening import listening
from tests.support.service import RunningService
from tests.support.standin import StandIn
from tests.support.waiting import PATIENCE_S

__all__ = ["_standin", "data_dir", "standin"]

KEY = "a key of sufficiently many characters".replace(" ", "-")
OTHER_KEY = KEY.upper()


@dataclass
class Listening:
    """A gateway that listens."""

    urls: dict[str, str]
    keys_file: Path

    @property
    def url(self) -> str:
        return self.urls["http"]

    @asynccontextmanager
    async def http(self, key: str = KEY, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        proof = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx2.AsyncClient(headers={**proof, **headers}, timeout=30, trust_env=False) as http:
            yield http

    @asynccontextmanager
    async def client(self, key: str = KEY, mode: str = "legacy", **options: AnyJson) -> AsyncIterator[Client]:
        """Return a client of the SDK with a session of its own. Any: any option of it."""
        async with (
            self.http(key) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode, **options) as client,
        ):
            yield client


Listen = Callable[..., AbstractAsyncContextManager[Listening]]


@pytest.fixture(scope="session")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    with browsers.none():
        running = listening(tmp_path_factory.mktemp("served"), presence_grace_ms=10 * PATIENCE_S * 1_000)
        service = await running.__aenter__()
    yield service
    await running.__aexit__(None, None, None)


@asynccontextmanager
async def before(url: str, data_dir: Path, keys: Path, **changes: AnyJson) -> AsyncIterator[Listening]:
    """Run a gateway that listens, before the service at that URL. Any: any setting of its transports."""
    await asyncio.to_thread(keys.write_text, f"# two clients\n{KEY}\n{OTHER_KEY}\n", encoding="ascii")
    usual = {"transport": "http", "mcp_port": 0, "ws_port": 0, "auth_file": keys, "rate_limit_max": 0}
    settings = Settings(url=url, data_dir=data_dir, autostart=False)
    gateway = Gateway(settings, Autostart(url, data_dir, enabled=False), "")
    listeners = Listeners(TransportSettings.model_validate({**usual, **changes}), gateway)
    async with listeners.running():
        yield Listening(listeners.urls, keys)
    await gateway.close()


@pytest.fixture
def listen(served: RunningService, tmp_path: Path) -> Listen:
    """Starts a gateway that listens, with these settings of its transports."""
    return partial(before, served.base_url, served.settings.data_dir, tmp_path / "keys")


@pytest.fixture
async def gateway(listen: Listen) -> AsyncIterator[Listening]:
    async with listen() as running:
        yield running


@pytest.fixture
async def before_standin(standin: StandIn, data_dir: Path, tmp_path: Path) -> AsyncIterator[Listening]:
    """Return a gateway with every transport, before a service that a test sets the answers of."""
    async with before(standin.url, data_dir, tmp_path / "keys", transport="http,sse,websocket") as running:
        yield running
