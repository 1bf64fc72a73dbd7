"""Tests what is done about a renderer that keeps a browser from answering, on processes that only look like them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import cast

import psutil
import pytest
from playwright.async_api import CDPSession

from browser_service.host.launching.congestion import Congestion

pytestmark = pytest.mark.anyio

START = "import subprocess, sys; process = subprocess.Popen([sys.executable, '-c', {child!r}, {kind!r}])"
SPIN = "print(flush=True)\nwhile True: pass"
BROWSER = f"{START.format(child=SPIN, kind='--type=renderer')}\n{SPIN}"
DRIVER = f"{START.format(child=BROWSER, kind='--type=browser')}; process.wait()"


class Browser:
    """Answers only while a renderer is stopped or gone, as one does that a page keeps busy."""

    def __init__(self, relieved: Callable[[], bool]) -> None:
        self._relieved = relieved

    async def send(self, _: str) -> None:
        await until(self._relieved)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what nothing tells of: the state of a process."""
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


@pytest.fixture
async def driver() -> AsyncIterator[psutil.Process]:
    """Has a browser that works, and that has a renderer."""
    started = await asyncio.create_subprocess_exec(sys.executable, "-c", DRIVER, stdout=asyncio.subprocess.PIPE)
    assert started.stdout is not None
    process = psutil.Process(started.pid)
    try:
        for _ in range(2):  # both say that they work
            await asyncio.wait_for(started.stdout.readline(), 20)
        yield process
    finally:
        for each in [*process.children(recursive=True), process]:
            each.kill()
        await started.wait()


async def test_a_renderer_is_stopped_until_the_browser_answers_and_goes_on_until_that_was_too_often(
    driver: psutil.Process,
) -> None:
    (renderer,) = [each for each in driver.children(recursive=True) if "--type=renderer" in each.cmdline()]

    def stopped() -> bool:
        return ended() or renderer.status() == psutil.STATUS_STOPPED

    def ended() -> bool:
        return not renderer.is_running() or renderer.status() == psutil.STATUS_ZOMBIE

    congestion = Congestion(lambda: [cast("CDPSession", Browser(stopped))], lambda: driver, lambda: True)
    watching = asyncio.ensure_future(congestion.run())
    try:
        async with asyncio.timeout(20):
            await until(stopped)
            assert (ended(), congestion.ended_one) == (False, False), "the first time it goes on"
            await until(lambda: not stopped())
            await until(ended)
        assert congestion.ended_one
    finally:
        watching.cancel()


async def test_what_is_stopped_goes_on_when_nobody_watches_any_more(driver: psutil.Process) -> None:
    (renderer,) = [each for each in driver.children(recursive=True) if "--type=renderer" in each.cmdline()]

    def stopped() -> bool:
        return renderer.status() == psutil.STATUS_STOPPED

    congestion = Congestion(lambda: [cast("CDPSession", Browser(stopped))], lambda: driver, lambda: True)
    watching = asyncio.ensure_future(congestion.run())
    async with asyncio.timeout(20):
        await until(stopped)
        watching.cancel()
        await until(lambda: not stopped())
