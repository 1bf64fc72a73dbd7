"""Provides the fixtures of the gateway's tests."""

from collections.abc import AsyncIterator

import pytest

from examples.processes import ServiceProcess
from tests.support.gateway_fixtures import _standin, chat, connection, data_dir, standin
from tests.support.gateways import close_all, service_process

__all__ = ["_standin", "chat", "connection", "data_dir", "standin"]

PUBLIC = "https://browse.example.com"
RULES = '[[rule]]\nname = "deletions"\ntext = ["Delete"]\n'


@pytest.fixture(scope="package")
async def _service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServiceProcess]:
    """Run one service for all gateways, at a public address, with a rule for acts that say "Delete"."""
    directory = tmp_path_factory.mktemp("gateways")
    (directory / "policy.toml").write_text(RULES, encoding="utf-8")
    async with service_process(directory, BROWSE_NOTIFY="off", BROWSE_PUBLIC_URL=PUBLIC) as running:
        yield running


@pytest.fixture(scope="module")
async def service(_service: ServiceProcess) -> AsyncIterator[ServiceProcess]:
    """Return the service of all gateways, and leave no page and no session of a module to the next one."""
    yield _service
    await close_all(_service)
