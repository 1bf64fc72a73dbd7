"""Reads from the system how much of the processors the driver, the browsers and their renderers use."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from browser_service.host.launching.processes import children_of

_RENDERER: Final = "--type=renderer"
_NETWORK: Final = "--utility-sub-type=network.mojom.NetworkService"
_BROWSER: Final = "browser"
_CHILDLESS: Final = frozenset({_RENDERER, _NETWORK})
_TOLD: Final = Path("/proc/thread-self/children").exists()
_OF_PROCESS: Final = 2
"""Makes of the inverted id of a process, three bits up, the clock of what it used (see clock_getcpuclockid)."""
_WORKING_S: Final = 0.02
"""The processes that all share are at work, and not just starved by other programs, when they use so much."""
_FLOODING_S: Final = 0.02
"""No renderer is stopped that has used less: a moment of its work may be seconds of the browser's."""
_FLOODING_TOO: Final = 0.5
"""Where another may be the reason, none is that has used less, beside what all that is shared has."""
_MOST_OF: Final = 0.25
"""Nor is one that has used less of what all renderers have: where many chats are at work, none is the reason."""


class Usage(NamedTuple):
    """Holds what the processes had used of processors at one time, s."""

    at: float
    shared: float
    """What browser, its network and driver used together: the service works for its callers too."""
    renderers: dict[psutil.Process, float]


def flooding(before: Usage, after: Usage, *, alone: bool = True) -> psutil.Process | None:
    """Return the renderer that keeps the browser busy, if it is clear which one it is. Where another may be the reason
    it is not `alone`."""
    worked = after.shared - before.shared
    used = {each: cpu - before.renderers.get(each, 0.0) for each, cpu in after.renderers.items()}
    if not used or worked < _WORKING_S:
        return None
    most = max(used, key=lambda each: used[each])
    least = _FLOODING_S if alone else worked * _FLOODING_TOO
    return most if used[most] >= max(least, sum(used.values()) * _MOST_OF) else None


class Load:
    """Reads what the driver and all that descends from it use."""

    def __init__(self, driver: Callable[[], psutil.Process | None]) -> None:
        self._driver = driver
        self._of: psutil.Process | None = None
        self._kinds = dict[psutil.Process, str]()

    def look_up(self) -> None:
        """Look which browsers and renderers run. This reads some 50 small files: 0.5 ms, and many times that in a
        thread, which would have to wait for its turn after each."""
        self._of, known = self._driver(), {each.pid: each for each in self._kinds}
        found, left = dict[psutil.Process, str](), [self._of] if self._of is not None else []
        while left:
            for each in _children(left.pop(), known):
                found[each] = self._kinds.get(each) or _kind(each)
                if found[each] not in _CHILDLESS:
                    left.append(each)
        self._kinds = found

    def all_usage(self) -> Usage:
        """Look what runs, and read what it uses. A renderer that one of these does not have is newer."""
        self.look_up()
        return self.usage()

    def usage(self) -> Usage:
        """Read what is used, of what was known when it was looked up."""
        return Usage(time.monotonic(), self.shared(), {each: self.of(each) for each in self._all(_RENDERER)})

    def shared(self) -> float:
        """Return what driver and browsers have used so far, s."""
        driver = [self._of] if self._of is not None else []
        return sum(map(self.of, (*driver, *self._all(_BROWSER, _NETWORK))))

    @staticmethod
    def of(process: psutil.Process) -> float:
        """Return what one process has used so far, s. Linux has a clock of it, which is read in a fifteenth of the
        time that psutil takes."""
        try:
            if sys.platform == "linux":
                return time.clock_gettime(~process.pid << 3 | _OF_PROCESS)
            times = process.cpu_times()
        except (OSError, psutil.Error):
            return 0.0
        return float(times.user + times.system)

    def _all(self, *kinds: str) -> list[psutil.Process]:
        return [each for each, kind in self._kinds.items() if kind in kinds]


def _children(process: psutil.Process, known: Mapping[int, psutil.Process]) -> list[psutil.Process]:
    """Return what a process started. Where the system tells that, no process of anybody else is read: that may wait for
    one which has no processor."""
    if not _TOLD:
        return children_of(process)
    found = list[psutil.Process]()
    with contextlib.suppress(OSError), os.scandir(f"/proc/{process.pid}/task") as tasks:
        for task in tasks:
            with contextlib.suppress(OSError, psutil.Error):  # one of them has just ended
                ids = map(int, _read(f"{task.path}/children").split())
                found += [known.get(each) or psutil.Process(each) for each in ids]
    return found


def _read(path: str) -> bytes:
    """Return a small file's bytes, in a tenth of the time that a file object takes."""
    file, read = os.open(path, os.O_RDONLY), b""
    try:
        while more := os.read(file, 4_096):
            read += more
    finally:
        os.close(file)
    return read


def _kind(process: psutil.Process) -> str:
    """Return which of Chromium's processes it is."""
    try:
        command = process.cmdline()
    except psutil.Error:
        return ""
    if _NETWORK in command:
        return _NETWORK
    return next((each for each in command if each.startswith("--type=")), _BROWSER if command else "")
