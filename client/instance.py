"""The service, a process of its own, is found by its data directory or address, started detached, and ended.

A gateway looks for the service while it still imports the rest of itself, so this module loads little: `http.client`
stands where httpx would.
"""

import contextlib
import http.client
import ipaddress
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import filelock
from pydantic import JsonValue

from shared.errors import ServiceUnavailable
from shared.wire import HEALTH, INSTANCE_FILE, LOG_FILE, READY, START_LOCK

START_WITHIN_S: Final = 30.0
END_WITHIN_S: Final = 20.0
_ANSWER_WITHIN_S: Final = 5.0
_LOOK_WITHIN_S: Final = 2.0
_POLL_S: Final = 0.1
_LOG_END_LINES: Final = 12
_LOG_END_BYTES: Final = 1_000_000
_LONGEST_ANSWER: Final = 1_000_000

Found = TypeVar("Found")


class Instance(NamedTuple):
    """A service that answered."""

    pid: int
    url: str
    version: str
    catalogue: str


class NotStarted(Exception):
    """A service that was started does not answer. It has ended with `exit_code`, or runs on where that is None."""

    def __init__(self, exit_code: int | None, log_end: list[str]) -> None:
        super().__init__(f"exit code {exit_code}")
        self.exit_code = exit_code
        self.log_end = log_end


def is_local(url: str) -> bool:
    """Say whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def answers(url: str) -> bool:
    """Say whether a program at that address reports to be healthy."""
    answer = _get(url, HEALTH, _LOOK_WITHIN_S)
    return answer is not None and answer[0] == HTTPStatus.OK


def health(url: str) -> dict[str, JsonValue] | None:
    """Return what a service of ours says of itself at that address; None where there is none."""
    status, body = _get(url, HEALTH) or (0, b"")
    said = _object(body)
    return said if status == HTTPStatus.OK and {"pid", "catalogue"} <= said.keys() else None


def readiness(url: str) -> dict[str, JsonValue]:
    """Return how much the service at that address has open; nothing where that is not said."""
    _, body = _get(url, READY) or (0, b"")
    return _object(body)


def find(data_dir: Path) -> Instance | None:
    """Return the service of this data directory, if the process that wrote its address there answers at it."""
    try:
        written = json.loads((data_dir / INSTANCE_FILE).read_text(encoding="utf-8"))
        pid, url = int(written["pid"]), str(written["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    said = health(url)
    if said is None or said["pid"] != pid:
        return None
    return Instance(pid, url, str(said.get("version", "")), str(said["catalogue"]))


def require(data_dir: Path) -> Instance:
    """Return the service of this data directory. Raises ServiceUnavailable where none runs."""
    if instance := find(data_dir):
        return instance
    raise ServiceUnavailable(
        f"The service is not running (data directory {data_dir}).", hint="Start it: browse-together up --detach"
    )


def start(
    data_dir: Path, settings: Mapping[str, str], look: Callable[[], Found | None], *, end_if_late: bool = False
) -> tuple[Found, int | None]:
    """Start the service of this data directory, unless `look` finds one already, and wait until it does.

    However many callers want it at once, one starts it: the others wait for a lock in the data directory. Returns what
    `look` found, and the pid of the process that was started, if one was. Raises NotStarted where none answers within
    START_WITHIN_S (it is ended then with `end_if_late`), OSError where the directory cannot be used.
    """
    if found := look():
        return found, None
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with filelock.FileLock(data_dir / START_LOCK, timeout=START_WITHIN_S):
        if found := look():
            return found, None
        log_began_at, child = _spawn(data_dir, settings)
        deadline = time.monotonic() + START_WITHIN_S
        while time.monotonic() < deadline:
            if found := look():
                return found, child.pid
            if child.poll() is not None:
                break
            time.sleep(_POLL_S)  # only the child knows when it is ready, and its output goes to the log
        if end_if_late:
            child.terminate()
        raise NotStarted(child.returncode, _log_end(data_dir / LOG_FILE, log_began_at))


def stop(instance: Instance) -> bool:
    """Ask a service to end, and wait END_WITHIN_S for it. Returns whether it has ended."""
    import psutil  # noqa: PLC0415 - only who ends a service needs it

    process = psutil.Process(instance.pid)
    deadline = time.monotonic() + END_WITHIN_S
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        while time.monotonic() < deadline:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(_POLL_S)  # only the child knows when it is ready, and its output goes to the log
        return False
    return True


def _spawn(data_dir: Path, settings: Mapping[str, str]) -> "tuple[int, subprocess.Popen[bytes]]":
    """Start it in a session of its own, so that it outlives us. Returns where its part of the log begins, in bytes."""
    log = os.open(data_dir / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]  # this tree need not be installed
    ours = {"BROWSE_DATA_DIR": str(data_dir), "PYTHONPATH": os.pathsep.join(filter(None, places))}
    try:
        began_at = os.fstat(log).st_size
        child = subprocess.Popen(
            [sys.executable, "-m", "browser_service", "up"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data_dir,
            env=os.environ | settings | ours,
            start_new_session=True,
        )
    finally:
        os.close(log)
    threading.Thread(target=child.wait, daemon=True).start()  # nobody else would collect it, should it end
    return began_at, child


def _log_end(log: Path, began_at: int) -> list[str]:
    """Return the last lines that were logged from that byte on: those before it are of other starts."""
    with log.open("rb") as file:
        file.seek(began_at)
        logged = file.read(_LOG_END_BYTES).decode(errors="replace")
    return logged.splitlines()[-_LOG_END_LINES:]


def _get(url: str, path: str, within_s: float = _ANSWER_WITHIN_S) -> tuple[int, bytes] | None:
    """Return the status and body that are answered there; None where nothing answers."""
    address = urlsplit(url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=within_s)
    try:
        connection.request("GET", f"{address.path}{path}")
        answer = connection.getresponse()
        return answer.status, answer.read(_LONGEST_ANSWER)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _object(body: bytes) -> dict[str, JsonValue]:
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
