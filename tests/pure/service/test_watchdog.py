"""Tests which renderer is ended where a browser answers late: by what was worked, so that a busy machine ends none."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple, cast

import psutil
import pytest
from playwright.async_api import CDPSession

from browser_service.host.sessions.processes import HasDriver
from browser_service.host.sessions.watchdog import MOST_S, Usage, Watchdog, guilty

pytestmark = pytest.mark.anyio

RENDERER = ("chromium", "--type=renderer")
SOON_S = 0.001


class Times(NamedTuple):
    user: float
    system: float


class Process:
    """A process whose work a test decides."""

    pid = 1

    def __init__(self, *command: str) -> None:
        self.command, self.used, self.killed = command, 0.0, False
        self.started: list[Process] = []

    def children(self, *, recursive: bool) -> "list[Process]":
        return self.started if recursive else []

    def cmdline(self) -> list[str]:
        return [*self.command]

    def cpu_times(self) -> Times:
        return Times(self.used, 0.0)

    def kill(self) -> None:
        self.killed = True

    def __repr__(self) -> str:
        return " ".join(self.command)


LOUD, CALM, BROWSER = (cast("psutil.Process", Process(name)) for name in ("loud", "calm", "browser"))


def usage(worked: float, **used: float) -> Usage:
    """Make what had been used, after more than all that the test is about."""
    return Usage({BROWSER: 50.0 + worked}, {LOUD: 5.0 + used.get("loud", 0.0), CALM: 7.0 + used.get("calm", 0.0)})


@pytest.mark.parametrize(
    ("worked", "loud", "calm", "found"),
    [
        pytest.param(2.1, 1.0, 0.0, LOUD, id="a flood"),
        pytest.param(2.5, 0.45, 0.0, LOUD, id="a flood that costs its page little"),
        pytest.param(1.9, 5.0, 0.0, None, id="a page that computes"),
        pytest.param(3.0, 0.5, 0.5, None, id="two that load much"),
        pytest.param(4.2, 0.5, 0.5, LOUD, id="two that flood"),
        pytest.param(8.0, 0.0, 0.3, None, id="a page beside what a closed one had sent"),
        pytest.param(9.0, 0.0, 0.0, None, id="pages that rest"),
    ],
)
def test_a_renderer_is_ended_for_its_part_of_the_work(
    worked: float, loud: float, calm: float, found: psutil.Process | None
) -> None:
    assert guilty(usage(0.0), usage(worked, loud=loud, calm=calm)) is found


def test_none_of_many_equally_busy_renderers_is_ended_and_a_new_one_counts() -> None:
    many = {cast("psutil.Process", Process(str(n))): 0.3 for n in range(40)}
    assert guilty(Usage({BROWSER: 0.0}, dict.fromkeys(many, 0.0)), Usage({BROWSER: 40.0}, many)) is None
    assert guilty(Usage({BROWSER: 0.0}, {}), Usage({BROWSER: 2.1}, {LOUD: 1.0})) is LOUD


def test_a_browsers_start_up_work_is_attributed_to_no_page() -> None:
    another = cast("psutil.Process", Process("another browser"))
    assert guilty(Usage({BROWSER: 0.0}, {LOUD: 0.0}), Usage({BROWSER: 0.1, another: 9.0}, {LOUD: 0.1})) is None


class Machine:
    """A driver with a browser and two renderers, and what these do while the browser is asked something."""

    def __init__(self, answers: Callable[["Machine"], Awaitable[None]]) -> None:
        self.driver, self.browser = Process("driver"), Process("chromium")
        self.loud, self.calm = Process(*RENDERER), Process(*RENDERER)
        self.driver.started = [self.browser, self.loud, self.calm]
        self.asked, self._answers, self._changed = 0, answers, asyncio.Event()

    async def send(self, _: str) -> None:
        self.asked += 1
        self._changed.set()
        await self._answers(self)

    def work(self, shared: float, loud: float) -> None:
        self.browser.used += shared
        self.loud.used += loud

    async def until_asked(self, times: int) -> None:
        while self.asked < times:
            self._changed.clear()
            await self._changed.wait()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Watchdog]:
        watchdog = Watchdog(cast("HasDriver", self), every_s=SOON_S)
        browsers = [cast("CDPSession", self)]
        watching = asyncio.ensure_future(watchdog.run(lambda: browsers, browsers))
        try:
            async with asyncio.timeout(20):
                yield watchdog
            assert not watching.done()
        finally:
            watching.cancel()


async def looked_at() -> None:
    """Let the watchdog look before more happens, which it does by time."""
    await asyncio.sleep(SOON_S)


async def test_only_the_renderer_that_blocks_the_browser_is_ended() -> None:
    async def floods(machine: Machine) -> None:
        while not machine.loud.killed:
            machine.work(0.1, 0.05)
            await looked_at()

    machine = Machine(floods)
    async with machine.watched() as watchdog:
        await machine.until_asked(1)
        assert not watchdog.ended_one
        await machine.until_asked(2)
        assert (machine.loud.killed, machine.calm.killed, watchdog.ended_one) == (True, False, True)


async def test_a_renderer_whose_floods_let_late_answers_through_is_ended_too() -> None:
    async def floods(machine: Machine) -> None:
        for _ in range(0 if machine.loud.killed else 3):
            machine.work(0.15, 0.05)
            await looked_at()

    machine = Machine(floods)
    async with machine.watched():
        while not machine.loud.killed:
            await machine.until_asked(machine.asked + 1)
    assert machine.asked > 3


async def test_no_renderer_is_ended_on_a_machine_that_is_busy_with_other_things() -> None:
    """The figures are those of a page that loads 300 files twice, at a load of 16."""

    async def takes_long(machine: Machine) -> None:
        for worked in ((0.33, 0.33), (0.02,), (0.1, 0.05), (0.3, 0.3), (0.01,))[machine.asked % 5]:
            machine.work(worked, worked)
            for _ in range(3):  # the time passes with other programs
                await looked_at()

    machine = Machine(takes_long)
    async with machine.watched() as watchdog:
        await machine.until_asked(40)
        assert (machine.loud.killed, machine.calm.killed, watchdog.ended_one) == (False, False, False)
    assert machine.browser.used > 3 * MOST_S, "in sum it is much"


async def test_no_other_renderer_is_ended_while_an_ended_ones_messages_are_processed() -> None:
    async def floods(machine: Machine) -> None:
        while not machine.loud.killed:
            machine.work(0.1, 0.05)
            await looked_at()
        for _ in range(60 if machine.asked == 2 else 0):  # asked behind what was sent
            machine.work(0.1, 0.0)
            machine.calm.used += 0.05
            await looked_at()

    machine = Machine(floods)
    async with machine.watched():
        await machine.until_asked(4)
        assert (machine.loud.killed, machine.calm.killed) == (True, False)
