"""Tests what is done about a renderer that keeps a browser from answering, on processes that only look like them."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import cast

import psutil
import pytest
from playwright.async_api import CDPSession

from browser_service.host.launching import congestion
from browser_service.host.launching.congestion import Congestion

pytestmark = pytest.mark.anyio

WORKS_OFF_S = 0.3
SEEN_S = 0.2
"""So long a turn must be for a test that looks every 10 ms."""
START = "import subprocess, sys, time; process = subprocess.Popen([sys.executable, '-c', {child!r}, {kind!r}])"
SPIN = "print(flush=True)\nwhile True: pass"
IDLE = "import time\nprint(flush=True)\nwhile True: time.sleep(1)"
BROWSER = f"{START.format(child=SPIN, kind='--type=renderer')}\n{{}}"
DRIVER = f"{START}; process.wait()"


class Browser:
    """Answers only while a renderer is stopped or gone, and not at once, as one does that a page keeps busy."""

    def __init__(self, relieved: Callable[[], bool], work: Callable[[], float] = float) -> None:
        """`work` says how much it has worked so far, s."""
        self._relieved, self._work = relieved, work
        self.asked = 0
        self._flooded = False
        self._until = 0.0

    async def send(self, _: str) -> None:
        self.asked += 1
        if not self._relieved():
            self._flooded = True
            await until(self._relieved)
        if self._flooded:
            self._flooded, self._until = False, self._work() + WORKS_OFF_S
        await until(lambda: self._work() >= self._until)  # what the renderer had sent before it was stopped


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what nothing tells of: the state of a process."""
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


@asynccontextmanager
async def driver_of(browser: str) -> AsyncIterator[tuple[psutil.Process, psutil.Process]]:
    """Run a driver whose browser does so much, and has a renderer that never rests. Yields it and the renderer."""
    program = DRIVER.format(child=BROWSER.format(browser), kind="")
    started = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert started.stdout is not None
    process = psutil.Process(started.pid)
    try:
        for _ in range(2):  # both say that they work
            await asyncio.wait_for(started.stdout.readline(), 20)
        (renderer,) = [each for each in process.children(recursive=True) if "--type=renderer" in each.cmdline()]
        yield process, renderer
    finally:
        for each in [*process.children(recursive=True), process]:
            each.kill()
        await started.wait()


@asynccontextmanager
async def watching(
    browser: Browser, driver: psutil.Process, on_held: Callable[[Iterable[psutil.Process]], object] = list
) -> AsyncIterator[Congestion]:
    watch = Congestion(lambda: [cast("CDPSession", browser)], lambda: driver, lambda: True, on_held, dear_s=0.4)
    task = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(20):
            yield watch
    finally:
        task.cancel()


def ended(renderer: psutil.Process) -> bool:
    return not renderer.is_running() or renderer.status() == psutil.STATUS_ZOMBIE


def stopped(renderer: psutil.Process) -> bool:
    return ended(renderer) or renderer.status() == psutil.STATUS_STOPPED


async def test_a_renderer_is_stopped_until_the_browser_answers_and_goes_on_until_that_cost_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(congestion, "next_turn", lambda *_: SEEN_S)
    async with driver_of(SPIN) as (driver, renderer):
        (browser,) = driver.children()
        flooded = Browser(lambda: stopped(renderer), lambda: browser.cpu_times().user)
        async with watching(flooded, driver) as watch:
            await until(lambda: stopped(renderer))
            assert (ended(renderer), watch.ended_one) == (False, False), "the first time it goes on"
            await until(lambda: not stopped(renderer))
            await until(lambda: ended(renderer))
            assert watch.ended_one


async def test_what_is_stopped_goes_on_when_nobody_watches_any_more() -> None:
    noted: list[tuple[list[psutil.Process], bool]] = []
    async with driver_of(SPIN) as (driver, renderer):
        flooded = Browser(lambda: stopped(renderer), time.monotonic)
        async with watching(flooded, driver, lambda held: noted.append(([*held], stopped(renderer)))):
            await until(lambda: stopped(renderer))
        await until(lambda: not stopped(renderer))
    assert noted[0] == ([renderer], False), "before it is stopped, for a service that is killed meanwhile"
    assert noted[-1] == ([], False)


async def test_a_renderer_is_not_stopped_where_the_browser_is_late_without_working() -> None:
    async with driver_of(IDLE) as (driver, renderer):
        browser = Browser(lambda: False)
        async with watching(browser, driver) as watch:
            await until(lambda: browser.asked > 1)
            assert (stopped(renderer), watch.ended_one) == (False, False)
