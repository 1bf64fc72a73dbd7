"""Services without a browser, for tests of everything in front of the seam."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from tests.support import browsers
from tests.support.service import RunningService, running_service, settings_for
from tests.support.sharing import start

__all__ = ["start"]


@pytest.fixture(scope="session")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Share one service among all tests that leave nothing behind but pages of their own."""
    settings = settings_for(tmp_path_factory.mktemp("data"))
    async with AsyncExitStack() as stack:
        with browsers.none():
            running = await stack.enter_async_context(running_service(settings))
        yield running


@pytest.fixture(scope="module", autouse=True)
def no_browser() -> Iterator[None]:
    with browsers.none():
        yield
