"""Watches the processes of the driver and the browsers, records them on disk, and ends them."""

import asyncio
import contextlib
import json
import os
import select
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

import psutil
import structlog

from browse_together.contract.model import Json
from browser_service.host.sessions.options import TRACES

_log = structlog.get_logger(__name__)

_ENDS_WITHIN_S: Final = 3.0
_WRITES_WITHIN_S: Final = 10
"""How long an interrupted browser may write its profile."""
_SAME_START_S: Final = 1.0
"""A changed clock moves a process's start by less than this, in seconds; a process id is not reused so soon."""


class HasDriver(Protocol):
    """Whatever starts the driver, of which all browsers are descendants."""

    @property
    def driver(self) -> psutil.Process | None: ...


class WatchedProcess:
    """A process whose end is told."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        self._on_end = list[Callable[[], None]]()
        self._watcher: asyncio.AbstractEventLoop | None = None
        self._pidfd: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                self._poll = select.poll()
                self._poll.register(self._pidfd, select.POLLIN)

    @property
    def runs(self) -> bool:
        """True while the process runs. A zombie does not: an orphan of the driver stays one until somebody reaps it."""
        if self._pidfd is not None:
            return not self._poll.poll(0)
        try:
            return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def on_end(self, tell: Callable[[], None]) -> None:
        """Have its end told by `tell`, in the event loop that runs now."""
        self._on_end.append(tell)
        if self._watcher is not None:
            return
        loop = self._watcher = asyncio.get_running_loop()
        if self._pidfd is not None:
            loop.add_reader(self._pidfd, self._tell)
        else:  # no event loop tells it there
            threading.Thread(target=self._wait, args=(loop,), daemon=True).start()

    def forget(self, tell: Callable[[], None]) -> None:
        if tell in self._on_end:
            self._on_end.remove(tell)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(psutil.Error):
            self.process.wait()
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self._pidfd is not None and self._watcher is not None:
            self._watcher.remove_reader(self._pidfd)
        for tell in [*self._on_end]:  # who is told may have others forgotten
            tell()

    def kill(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.process.kill()

    def close(self) -> None:
        """Stop watching. This may be called in any thread."""
        if self._watcher is None or self._watcher.is_closed():
            self._release()
        else:
            self._watcher.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        if self._pidfd is not None:
            if self._watcher is not None and not self._watcher.is_closed():
                self._watcher.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None


def describe_process(process: psutil.Process) -> Json:
    """Describe a process so that `find_process` finds it again. Raises psutil.Error if it has ended."""
    return {"pid": process.pid, "name": process.name(), "started": process.create_time()}


def find_process(record: Json) -> psutil.Process | None:
    """Return the described process, and no later one with its id; None if it has ended.

    Raises ValueError, KeyError or TypeError if `record` is no description.
    """
    pid, started, name = record["pid"], record["started"], record.get("name")
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(int(str(pid)))
        same = abs(process.create_time() - float(str(started))) < _SAME_START_S
        return process if same and name in {None, process.name()} else None
    return None


def browsers_of(driver: WatchedProcess | None, profile_dir: Path) -> list[WatchedProcess]:
    children = children_of(driver.process) if driver is not None else []
    return [WatchedProcess(child) for child in children if str(profile_dir) in " ".join(_command(child))]


def children_of(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.Error:  # it has just ended
        return []


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def interrupt(process: psutil.Process) -> None:
    """End a browser as Ctrl+C does. Chromium loses the cookies of the last 30 s if it is asked to terminate."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate() if sys.platform == "win32" else process.send_signal(signal.SIGINT)
        _, alive = psutil.wait_procs([process], timeout=_WRITES_WITHIN_S)
        for hanging in alive:
            hanging.kill()
        psutil.wait_procs(alive, timeout=_WRITES_WITHIN_S)


def end_all(processes: list[WatchedProcess]) -> None:
    """Kill the processes and all that they started, and wait for their end, because a hanging child would stay."""
    trees = list[psutil.Process]()
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            trees += process.process.children(recursive=True)
    for process in processes:
        process.kill()
    for child in trees:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    deadline = time.monotonic() + _ENDS_WITHIN_S
    while any(process.runs for process in processes) and time.monotonic() < deadline:
        time.sleep(0.005)  # only a parent hears of a process's end
    for process in processes:
        process.close()


class Orphans:
    """The processes that a killed service left running. Their record lies beside the profile from a driver's start
    until its orderly end."""

    def __init__(self, directory: Path) -> None:
        self._record = directory / "running.json"
        self._traces = directory / TRACES

    def record(self, processes: Iterable[psutil.Process]) -> None:
        """Record that these processes run, and no others."""
        running = list[Json]()
        for process in processes:
            with contextlib.suppress(psutil.Error):
                running.append(describe_process(process))
        try:
            self._record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._record.write_text(json.dumps(running), encoding="utf-8")
        except OSError as error:  # a full disk is no reason to have no browser
            _log.warning("what runs cannot be noted down", reason=str(error))

    def forget(self) -> None:
        """Delete the record, and what no process writes any more, because all have ended in good order."""
        shutil.rmtree(self._traces, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._record.unlink(missing_ok=True)

    async def end(self) -> bool:
        """End what still runs of an earlier service. Returns True if that service had ended badly."""
        if not self._record.exists():
            return False
        await asyncio.to_thread(end_all, [WatchedProcess(process) for process in self._running()])
        self.forget()
        return True

    def _running(self) -> list[psutil.Process]:
        """Return the recorded processes that run."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            records = json.loads(self._record.read_text(encoding="utf-8"))
            return [process for record in records if (process := find_process(record)) is not None]
        return []
