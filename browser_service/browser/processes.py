"""The driver and the browser as processes: whether they run, and their end."""

import contextlib
import os
import select
import sys
from pathlib import Path

import psutil


class Watched:
    """A process that is asked several times a call whether it runs: 0.4 µs by a pidfd, 60 by psutil."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        self._pidfd: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                self._poll = select.poll()
                self._poll.register(self._pidfd, select.POLLIN)

    @property
    def runs(self) -> bool:
        if self._pidfd is not None:
            return not self._poll.poll(0)
        try:
            return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def end(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.process.kill()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def browsers_of(driver: Watched | None, profile_dir: Path) -> list[Watched]:
    """What a driver started on our profile."""
    children = driver.process.children() if driver is not None else []
    return [Watched(child) for child in children if str(profile_dir) in " ".join(child.cmdline())]


def end_all(processes: list[Watched]) -> None:
    for process in processes:
        process.end()
    psutil.wait_procs([process.process for process in processes], timeout=3)
