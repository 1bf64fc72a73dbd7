"""Provides what the tests of sharing need: services of their own, and a time limit for every test."""

import asyncio
import functools
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from browser_service.rules.window import Clock
from browser_service.services import Carrier, MakeHost
from tests.support.service import RunningService, running_service, settings_for
from tests.support.site import Answer, Site

FOLDERS = {"service", "security"}
TEST_ENDS_WITHIN_S = 90
LONG_TEST_ENDS_WITHIN_S = 300

StartService = Callable[..., Awaitable[RunningService]]


def bound(items: list[pytest.Item]) -> None:
    """End a test of these folders that hangs."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and asyncio.iscoroutinefunction(item.obj)
            and item.path.parent.name in FOLDERS
        ):
            item.obj = _bounded(
                item.obj, LONG_TEST_ENDS_WITHIN_S if item.get_closest_marker("long") else TEST_ENDS_WITHIN_S
            )


def _bounded(test: Callable[..., Awaitable[None]], within_s: float) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def bounded(*args: Any, **fixtures: Any) -> None:  # Any: a test takes whatever fixtures it names
        async with asyncio.timeout(within_s):
            await test(*args, **fixtures)

    return bounded


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[StartService]:
    """Starts a service on the test's own data directory, for tests that break it or need other settings."""
    async with AsyncExitStack() as stack:

        async def started(
            carrier: Carrier = lambda host: host,
            clock: Clock = time.monotonic,
            make_host: MakeHost | None = None,
            **settings: Any,  # Any: as there
        ) -> RunningService:
            ours = settings_for(tmp_path / "data", **settings)
            return await stack.enter_async_context(running_service(ours, carrier, clock, make_host))

        yield started


@pytest.fixture
def hold(site: Site) -> Iterator[threading.Event]:
    """`/held` answers when this is set."""
    release = threading.Event()
    site.page("/held", Answer("<title>held</title>", hold=release))
    yield release
    release.set()
