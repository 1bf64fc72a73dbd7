"""Proves that the program at a port is the browser that has a user data directory open. The browser's port file
outlives it, and whoever takes its port then would be sent all that agents type, passwords too."""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

_LOCK: Final = "SingletonLock"


def runs(directory: Path) -> bool:
    """Say if a browser has the user data directory open, as far as its own lock tells."""
    if sys.platform == "win32":
        return (directory / "lockfile").exists()
    host, pid = _lock(directory)
    return bool(host) and (host != socket.gethostname() or (pid is not None and psutil.pid_exists(pid)))


def listens(directory: Path, port: int) -> bool:
    """Say if who listens at a port is a process of this account that has the directory open, or a child of one."""
    return any(_listens(each, port) for each in _owners(directory))


def _lock(directory: Path) -> tuple[str, int | None]:
    """Return the machine and the process that the browser's own lock names; "" if there is no lock."""
    try:
        host, _, pid = os.readlink(directory / _LOCK).rpartition("-")  # noqa: PTH115 - no path, but a text
    except OSError:
        return "", None
    return host, int(pid) if pid.isdecimal() else None


def _owners(directory: Path) -> Iterator[psutil.Process]:
    """Find the processes of this account that have a file of the directory open: first that of the lock, which is
    enough unless the browser numbers its processes by itself, as in a sandbox of Flatpak's."""
    _, locked_by = _lock(directory)
    if locked_by is not None and psutil.pid_exists(locked_by):
        with contextlib.suppress(psutil.Error):
            yield from _if_owner(psutil.Process(locked_by), directory)
    for process in psutil.process_iter():
        if process.pid != locked_by:
            yield from _if_owner(process, directory)


def _if_owner(process: psutil.Process, directory: Path) -> Iterator[psutil.Process]:
    """Yield a process and its children if it is of this account and has a file of the directory open."""
    whole = directory.resolve()
    with contextlib.suppress(psutil.Error):  # it has ended, or is somebody else's
        if process.username() != psutil.Process().username():
            return
        if any(whole in Path(each.path).parents for each in process.open_files()):
            yield process
            yield from process.children(recursive=True)


def _listens(process: psutil.Process, port: int) -> bool:
    with contextlib.suppress(psutil.Error):
        connections = process.net_connections("tcp")
        return any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in connections)
    return False
