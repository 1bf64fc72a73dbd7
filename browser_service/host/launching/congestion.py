"""Watches whether the browser answers at once, and ends the renderer that keeps it from that.

All pages share one main thread of the browser, one driver and one event loop. A page can give the first so much to do
that nothing of it reaches us that could be counted, and no command the browser. Whatever it does for that costs its
renderer processor time, which the system tells, and the system ends it at once.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import psutil
import structlog
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

_log = structlog.get_logger(__name__)

_EVERY_S: Final = 0.1
_EVERY_WHEN_IDLE_S: Final = 0.5
"""While no call runs it is asked less often."""
_LATE_S: Final = 0.25
"""A browser that takes so long to answer is late: else it takes 2 ms."""
_SAMPLE_S: Final = 0.15
"""It is watched for so long who uses the processors meanwhile."""
_DRAINS_WITHIN_S: Final = 2.0
"""What a renderer sent before its end is still worked on for a while."""
_WORKING: Final = 0.3
"""The processes that all share are congested, and not just starved by other programs, when they use this share of a
processor."""
_FLOODING: Final = 0.1
"""No renderer that uses less of a processor is ended."""
_MOST_OF: Final = 0.5
"""Nor one that uses less of what all renderers use."""


class Usage(NamedTuple):
    """Holds what the processes had used of processors at one time, s."""

    at: float
    shared: float
    """What browser, driver and service used together."""
    renderers: dict[psutil.Process, float]


def flooding(before: Usage, after: Usage) -> psutil.Process | None:
    """Return the renderer that is to be ended, if it is clear which one it is."""
    passed = after.at - before.at
    used = {each: cpu - before.renderers.get(each, cpu) for each, cpu in after.renderers.items()}
    if not used or after.shared - before.shared < passed * _WORKING:
        return None
    most = max(used, key=lambda each: used[each])
    enough = used[most] >= passed * _FLOODING and used[most] >= sum(used.values()) * _MOST_OF
    return most if enough else None


class Congestion:
    """Watches the browsers of one driver."""

    def __init__(
        self,
        browsers: Callable[[], Sequence[CDPSession]],
        driver: Callable[[], psutil.Process | None],
        busy: Callable[[], bool],
    ) -> None:
        """`browsers`: a session of Chromium's for each browser that is watched; `busy`: says whether calls run."""
        self._browsers, self._driver, self._busy = browsers, driver, busy
        self._ended_at = -_DRAINS_WITHIN_S

    @property
    def ended_one(self) -> bool:
        """True where a renderer whose end is told now was ended by us."""
        return time.monotonic() - self._ended_at < _DRAINS_WITHIN_S

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S if self._busy() else _EVERY_WHEN_IDLE_S)  # nothing tells that it is late
            await asyncio.gather(*(self._look(each) for each in self._browsers()), return_exceptions=True)

    async def _look(self, browser: CDPSession) -> None:
        """Ask a browser something, and end what keeps it from answering."""
        answer = asyncio.ensure_future(_answer(browser))
        try:
            wait_s = _LATE_S
            while not await _comes(answer, wait_s):
                before = await asyncio.to_thread(self._usage)
                if await _comes(answer, _SAMPLE_S):
                    return
                guilty = flooding(before, await asyncio.to_thread(self._usage, [*before.renderers]))
                wait_s = min(2 * wait_s, _DRAINS_WITHIN_S)
                if guilty is not None and not answer.done():
                    self._end(guilty)
                    wait_s = _DRAINS_WITHIN_S
        finally:
            answer.cancel()

    def _end(self, renderer: psutil.Process) -> None:
        _log.warning("a page kept the browser from answering; its renderer was ended", pid=renderer.pid)
        self._ended_at = time.monotonic()
        with contextlib.suppress(psutil.Error):
            renderer.kill()

    def _usage(self, renderers: Sequence[psutil.Process] | None = None) -> Usage:
        """Look at all processes, or at the renderers that are known from an earlier look."""
        driver, own = self._driver(), psutil.Process()
        if driver is None:
            return Usage(time.monotonic(), 0.0, {})
        browsers = _children(driver)
        if renderers is None:
            renderers = [each for browser in browsers for each in _children(browser, recursive=True) if _renders(each)]
        shared = sum(_used(each) for each in (own, driver, *browsers))
        return Usage(time.monotonic(), shared, {each: _used(each) for each in renderers})


async def _answer(browser: CDPSession) -> None:
    with contextlib.suppress(PlaywrightError):  # it has just ended
        await browser.send("Browser.getVersion")


async def _comes(answer: "asyncio.Future[None]", within_s: float) -> bool:
    done, _ = await asyncio.wait({answer}, timeout=within_s)
    return bool(done)


def _children(process: psutil.Process, *, recursive: bool = False) -> list[psutil.Process]:
    try:
        return process.children(recursive=recursive)
    except psutil.Error:
        return []


def _renders(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:
        return False


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
