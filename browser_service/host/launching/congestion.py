"""Watches whether the browser answers at once, and stops the renderer that keeps it from that.

All pages share one main thread of the browser, one driver and one event loop. A page can give them so much to do that
nothing of it reaches us that could be counted, and no command the browser. Whatever it does for that costs its renderer
processor time, which the system tells. The system stops it until the browser has worked off what came, which a page
that is meant well does not notice; one that has to be stopped again and again is ended.
"""

import asyncio
import contextlib
import time
from collections import deque
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
_LATE_S: Final = 0.08
"""A browser that takes so long to answer is late: else it takes 2 ms."""
_SAMPLE_S: Final = 0.06
"""It is watched for so long who uses the processors meanwhile."""
_DRAINS_WITHIN_S: Final = 2.0
"""What a renderer sent before its stop is still worked on for a while; no longer than this it is stopped."""
_WORKING: Final = 0.3
"""The processes that all share are congested, and not just starved by other programs, when they use this share of a
processor."""
_FLOODING: Final = 0.1
"""No renderer that uses less of a processor is stopped."""
_MOST_OF: Final = 0.5
"""Nor one that uses less of what all renderers use: where many chats are at work, none of them is the reason."""
_STOPS: Final = 3
_STOPS_WITHIN_S: Final = 10.0
"""A renderer that has been the reason so many times within this time is ended."""
_HEAVY_S: Final = 0.6
"""It is ended the first time if what it had sent before it was stopped took so much of the processors to work off."""
_RESTS_S: Final = 0.7
"""Else it goes on after this, so that calls that were kept waiting get done: each asks the browser several times."""


class Usage(NamedTuple):
    """Holds what the processes had used of processors at one time, s."""

    at: float
    shared: float
    """What browser, driver and service used together."""
    renderers: dict[psutil.Process, float]


def flooding(before: Usage, after: Usage) -> psutil.Process | None:
    """Return the renderer that keeps the browser busy, if it is clear which one it is."""
    passed = after.at - before.at
    used = {each: cpu - before.renderers.get(each, cpu) for each, cpu in after.renderers.items()}
    if not used or after.shared - before.shared < passed * _WORKING:
        return None
    most = max(used, key=lambda each: used[each])
    enough = used[most] >= passed * _FLOODING and used[most] >= sum(used.values()) * _MOST_OF
    return most if enough else None


class Offences:
    """Counts how often each renderer was stopped of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._latest = deque[tuple[float, psutil.Process]](maxlen=100)

    def add(self, renderer: psutil.Process) -> bool:
        """Note one more, and return whether that is one too many."""
        now = self._clock()
        self._latest.append((now, renderer))
        return sum(each == renderer and now - at < _STOPS_WITHIN_S for at, each in self._latest) >= _STOPS


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
        self._offences = Offences()
        self._ended_at = -_DRAINS_WITHIN_S
        self._stopped = set[psutil.Process]()
        self._late_since = dict[CDPSession, Usage]()
        """Has what was used when the browser that was late last began to be."""

    @property
    def ended_one(self) -> bool:
        """True where a renderer whose end is told now was ended by us."""
        return time.monotonic() - self._ended_at < _DRAINS_WITHIN_S

    async def run(self) -> None:
        try:
            while True:
                await asyncio.sleep(_EVERY_S if self._busy() else _EVERY_WHEN_IDLE_S)  # nothing tells that it is late
                await asyncio.gather(*(self._look(each) for each in self._browsers()), return_exceptions=True)
        finally:
            self._let_go_on([*self._stopped])

    async def _look(self, browser: CDPSession) -> None:
        """Ask a browser something, and stop what keeps it from answering."""
        answer = asyncio.ensure_future(_answer(browser))
        try:
            if await _comes(answer, _LATE_S):
                self._late_since.pop(browser, None)
                return
            now = await asyncio.to_thread(self._usage)
            since = self._late_since.get(browser, now)
            if now.at - since.at > _DRAINS_WITHIN_S:
                since = now
            self._late_since = {browser: since}
            if guilty := await self._guilty(answer, since, now):
                self._late_since.clear()
                await self._relieve(answer, guilty)
        finally:
            answer.cancel()

    async def _guilty(self, answer: "asyncio.Future[None]", since: Usage, now: Usage) -> psutil.Process | None:
        """Find the renderer that keeps a browser from answering. One that was late the last time too, `since` then, is
        not given time to answer first."""
        gives_up_at = now.at + _DRAINS_WITHIN_S
        while now.at < gives_up_at:
            if now.at - since.at >= _SAMPLE_S:
                if (guilty := flooding(since, now)) is not None:
                    return guilty
                since = now
            if await _comes(answer, _SAMPLE_S):
                break
            now = await asyncio.to_thread(self._usage)
        return None

    async def _relieve(self, answer: "asyncio.Future[None]", guilty: psutil.Process) -> None:
        """Stop a renderer until the browser has answered and others have had their turn. End it if that was not the
        first time, or if what it had sent takes long to work off."""
        before = await asyncio.to_thread(self._stop, guilty)
        await _comes(answer, _DRAINS_WITHIN_S)
        after = await asyncio.to_thread(self._usage)
        if self._offences.add(guilty) or after.shared - before.shared >= _HEAVY_S:
            self._end(guilty)
        asyncio.get_running_loop().call_later(_RESTS_S, self._let_go_on, [guilty])

    def _stop(self, renderer: psutil.Process) -> Usage:
        _log.info("a page keeps the browser from answering; its renderer is stopped for a while", pid=renderer.pid)
        with contextlib.suppress(psutil.Error):
            self._stopped.add(renderer)
            renderer.suspend()
        return self._usage()

    def _let_go_on(self, renderers: Sequence[psutil.Process]) -> None:
        for each in renderers:
            self._stopped.discard(each)
            with contextlib.suppress(psutil.Error):
                each.resume()

    def _end(self, renderer: psutil.Process) -> None:
        _log.warning("a page kept the browser from answering; its renderer was ended", pid=renderer.pid)
        self._ended_at = time.monotonic()
        with contextlib.suppress(psutil.Error):
            renderer.kill()

    def _usage(self) -> Usage:
        """Look at all processes."""
        driver, own = self._driver(), psutil.Process()
        if driver is None:
            return Usage(time.monotonic(), 0.0, {})
        browsers = _children(driver)
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
