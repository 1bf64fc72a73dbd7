"""In front of the seam: the services of these tests have no browser."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support import browsers
from tests.support.service import RunningService, running_service, settings_for


@pytest.fixture(scope="session")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Shared by all tests that leave nothing behind but pages of their own."""
    with browsers.none():
        async with running_service(settings_for(tmp_path_factory.mktemp("data"))) as running:
            yield running


@pytest.fixture(scope="module", autouse=True)
def no_browser() -> Iterator[None]:
    with browsers.none():
        yield
