"""Provides one service for tests of chats that need no settings of their own."""

from collections.abc import AsyncIterator

import pytest

from examples.processes import ServiceProcess
from tests.support.gateways import close_all, service_process


@pytest.fixture(scope="package")
async def _plain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServiceProcess]:
    async with service_process(tmp_path_factory.mktemp("data")) as service:
        yield service


@pytest.fixture(scope="module")
async def plain(_plain: ServiceProcess) -> AsyncIterator[ServiceProcess]:
    """Return a service without pages, and leave it so."""
    yield _plain
    await close_all(_plain)
