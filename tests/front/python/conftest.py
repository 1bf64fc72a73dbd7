"""Provides a stand-in for the service, and a client of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together import AsyncBrowser
from tests.support.gateway_fixtures import _standin, data_dir, standin
from tests.support.standin import StandIn

__all__ = ["_standin", "data_dir", "standin"]


@pytest.fixture
async def browser(standin: StandIn, data_dir: Path) -> AsyncIterator[AsyncBrowser]:
    async with AsyncBrowser(standin.url, data_dir=data_dir, autostart=False, label="tester") as browser:
        yield browser
