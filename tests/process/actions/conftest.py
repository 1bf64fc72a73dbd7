"""Provides one service whose limits the tests of this folder meet."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.service import RunningService, running_service, settings_for


@pytest.fixture(scope="package")
def outbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder whose files may be uploaded."""
    return tmp_path_factory.mktemp("outbox")


@pytest.fixture(scope="package")
async def limited(tmp_path_factory: pytest.TempPathFactory, outbox: Path) -> AsyncIterator[RunningService]:
    """Run a service with little room for downloads, one folder of uploads, and a host that is forbidden."""
    limits = {"download_max_mb": 1, "upload_roots": (outbox,), "url_blacklist": ["localhost"]}
    async with running_service(settings_for(tmp_path_factory.mktemp("data"), **limits)) as service:
        yield service
