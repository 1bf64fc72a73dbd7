"""Watches whether the browsers answer, and ends a renderer that prevents it.

All pages share a browser's main thread, one driver and one event loop, so a page that floods these keeps everybody
waiting. The watchdog sends a browser a probe that costs it nothing, and measures the CPU time used until the answer: on
a machine that is busy with other things, answers take long but cost little CPU.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

import psutil
import structlog
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host.sessions.processes import HasDriver

_log = structlog.get_logger(__name__)

_EVERY_S: Final = 0.25
_LESS_OFTEN: Final = 4
"""While no call runs, we probe a browser this many times less often."""
_LOOKS: Final = 120
"""After this many looks without an answer, a browser hangs, and gets a new probe."""
_LATE_S: Final = 0.2
"""An answer that costs more CPU than this is late. A click asks the browser about ten times."""
MOST_S: Final = 2.0
"""We end a renderer that causes this much CPU time elsewhere while all answers are late. An honest page that loads 300
files causes 0.7 s."""
MOST_TIMES: Final = 5.0
"""A renderer causes at most this many times its own CPU time. Otherwise the only page that does anything would be ended
for what a closed one had sent."""
_TOLD_WITHIN_S: Final = 10.0
"""The report of a crash comes later than the browser's answer, by at most this."""
_RENDERER: Final = "--type=renderer"
_NETWORK: Final = "--utility-sub-type=network.mojom.NetworkService"


class Usage(NamedTuple):
    """The CPU time used until now, in seconds."""

    shared: Mapping[psutil.Process, float]
    """Of the processes that all pages share: the driver, the browsers, and their network services."""
    renderers: Mapping[psutil.Process, float]


def guilty(before: Usage, after: Usage) -> psutil.Process | None:
    """Return the renderer that caused too much CPU time between two measurements, if one did. The time of the shared
    processes is split among the renderers in proportion to their own."""
    worked = sum(cpu - before.shared[each] for each, cpu in after.shared.items() if each in before.shared)
    used = {each: cpu - before.renderers.get(each, 0.0) for each, cpu in after.renderers.items()}
    if (total := sum(used.values())) <= 0:
        return None
    most = max(used, key=lambda each: used[each])
    return most if used[most] * min(worked / total, MOST_TIMES) >= MOST_S else None


class Watchdog:
    def __init__(self, launcher: HasDriver, every_s: float = _EVERY_S) -> None:
        self._launcher, self._every_s = launcher, every_s
        self._shared = list[psutil.Process]()
        self._told_until = 0.0

    @property
    def ended_one(self) -> bool:
        """True while a reported crash may be the watchdog's doing."""
        return time.monotonic() < self._told_until

    async def run(self, browsers: Callable[[], Sequence[CDPSession]], running: Collection[object]) -> None:
        """Watch the browsers, each over a CDP session. `running` has the calls."""
        watched: Sequence[CDPSession] = ()
        while True:
            await asyncio.sleep(self._every_s * (1 if running else _LESS_OFTEN))  # no event tells of a late answer
            if watched != (watched := browsers()):
                await self._usage()
            await asyncio.gather(*map(self._look, watched))

    async def _look(self, browser: CDPSession) -> None:
        """Probe a browser, again as long as its answers are late, and end the renderer that delays them."""
        first: Usage | None = None
        asked, answer = self._worked(), _ask(browser)
        try:
            for _ in range(_LOOKS):
                await asyncio.wait({answer}, timeout=self._every_s)
                if late := self._worked() - asked >= _LATE_S:
                    now = await self._usage()
                    first = first or now
                    if (renderer := guilty(first, now)) is not None:
                        await self._end(renderer, browser)
                        return
                if answer.done() and not late:
                    return
                if answer.done():
                    asked, answer = self._worked(), _ask(browser)
        finally:
            answer.cancel()

    async def _end(self, renderer: psutil.Process, browser: CDPSession) -> None:
        """End a renderer, and wait until the browser has worked off what it had sent, so that no other renderer is
        ended for that."""
        _log.warning("a page kept the browser from answering; its renderer was ended", pid=renderer.pid)
        self._told_until = inf
        with contextlib.suppress(psutil.Error):  # it has just ended by itself
            renderer.kill()
        await _ask(browser)  # which also ends with the browser
        self._told_until = time.monotonic() + _TOLD_WITHIN_S

    async def _usage(self) -> Usage:
        """Find the running processes and the CPU time that they have used. Use a thread, because this looks at all
        processes of the machine."""
        self._shared, renderers = await asyncio.to_thread(_processes, self._launcher.driver)
        return Usage({each: _used(each) for each in self._shared}, {each: _used(each) for each in renderers})

    def _worked(self) -> float:
        """Return the CPU time of the shared processes, in seconds."""
        return sum(map(_used, self._shared))


def _ask(browser: CDPSession) -> asyncio.Future[None]:
    """Send a browser a probe that costs it nothing."""

    async def answer() -> None:
        with contextlib.suppress(PlaywrightError):  # it has just ended
            await browser.send("Browser.getVersion")

    return asyncio.ensure_future(answer())


def _processes(driver: psutil.Process | None) -> tuple[list[psutil.Process], list[psutil.Process]]:
    """Return two lists: the driver with the processes that all pages share, and the renderers."""
    shared, renderers = list[psutil.Process](), list[psutil.Process]()
    with contextlib.suppress(psutil.Error):
        for process in [driver, *driver.children(recursive=True)] if driver is not None else []:
            with contextlib.suppress(psutil.Error):  # it has just ended
                command = process.cmdline()
                if _RENDERER in command:
                    renderers.append(process)
                elif _NETWORK in command or not any(each.startswith("--type=") for each in command):
                    shared.append(process)
    return shared, renderers


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
