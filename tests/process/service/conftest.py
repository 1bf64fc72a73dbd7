"""Provides services that work on whatever dies, which the tests of this folder share."""

from collections.abc import AsyncIterator

import pytest

from tests.support import browsers
from tests.support.service import RunningService, running_service, settings_for, visiting

WAITS_MS = 60_000


@pytest.fixture(scope="package")
async def _lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(settings_for(tmp_path_factory.mktemp("lasting"), queue_wait_ms=WAITS_MS)) as service:
        yield service


@pytest.fixture(scope="package")
async def _whole(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    with browsers.whole():
        settings = settings_for(tmp_path_factory.mktemp("whole"), queue_wait_ms=WAITS_MS)
    async with running_service(settings) as service:
        yield service


@pytest.fixture(scope="package")
async def _narrow(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    settings = settings_for(tmp_path_factory.mktemp("narrow"), max_pages=1, dialog_wait_ms=300)
    async with running_service(settings) as service:
        yield service


@pytest.fixture
async def narrow(_narrow: RunningService) -> AsyncIterator[RunningService]:
    """Return a service that has room for one page, and dismisses a dialog soon."""
    yield _narrow
    async with visiting(_narrow):
        pass


@pytest.fixture
async def lasting_service(_lasting: RunningService) -> AsyncIterator[RunningService]:
    """Return the same service for all disasters, and leave it no page."""
    yield _lasting
    async with visiting(_lasting):
        pass


@pytest.fixture
async def whole_service(_whole: RunningService) -> AsyncIterator[RunningService]:
    """Return the one with a whole browser."""
    yield _whole
    async with visiting(_whole):
        pass
