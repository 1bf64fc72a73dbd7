"""Finds the service, a separate process, by its data directory or address; starts and ends it.

A gateway starts the service while it still imports its other modules, so this module and `autostart` import little, and
use `http.client` instead of httpx.
"""

import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import JsonValue

from browse_together.client import caller, environment
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import HEALTH, INSTANCE_FILE, LOG_FILE, READY, START_LOCK

START_WITHIN_S: Final = 30.0
END_WITHIN_S: Final = 20.0
_ANSWER_WITHIN_S: Final = 5.0
_PROBE_WITHIN_S: Final = 2.0
_POLL_S: Final = 0.02
_LOG_END_LINES: Final = 12
_LOG_END_BYTES: Final = 1_000_000
_MAX_BODY_BYTES: Final = 1_000_000

Probed = TypeVar("Probed")


class Inherited(NamedTuple):
    """The environment and the folder for a new service. Settings may name files in the folder, which may be gone."""

    environment: Mapping[str, str]
    folder: Path | None


class Instance(NamedTuple):
    """A service that has answered."""

    pid: int
    url: str
    version: str
    catalogue: str


class NotStarted(Exception):
    """The service does not answer after its start. `exit_code` is None while it still runs."""

    def __init__(self, exit_code: int | None, log_end: list[str]) -> None:
        super().__init__(f"exit code {exit_code}")
        self.exit_code = exit_code
        self.log_end = log_end


def is_local(url: str) -> bool:
    """Return whether an address is on this machine."""
    return is_loopback(urlsplit(url).hostname or "")


def answers(url: str) -> bool:
    """Return whether a program at that address reports that it is healthy."""
    status, _ = _get(url, HEALTH, _PROBE_WITHIN_S)
    return status == HTTPStatus.OK


def health(url: str) -> dict[str, JsonValue] | None:
    """Return the health report of our service at that address; None if there is none."""
    status, body = _get(url, HEALTH)
    report = json_object(body)
    return report if status == HTTPStatus.OK and {"pid", "catalogue"} <= report.keys() else None


def readiness(url: str) -> dict[str, JsonValue]:
    """Return the readiness report of the service at that address; empty without one."""
    _, body = _get(url, READY)
    return json_object(body)


def find(data_dir: Path) -> Instance | None:
    """Return the service of this data directory, if the process that wrote its address there still answers."""
    pid, url = _noted(data_dir)
    report = health(url) if url else None
    if report is None or report["pid"] != pid:
        return None
    return Instance(pid, url, str(report.get("version", "")), str(report["catalogue"]))


def noted_url(data_dir: Path) -> str:
    """Return the address that the last service of this data directory wrote there; empty if none did, or it ended."""
    return _noted(data_dir)[1]


def start(
    data_dir: Path,
    settings: Mapping[str, str],
    probe: Callable[[], Probed | None],
    *,
    end_if_late: bool = False,
    inherited: Inherited | None = None,
) -> tuple[Probed, int | None]:
    """Start the service of this data directory unless `probe` finds one already, and wait until `probe` does.

    If several callers start it at once, a lock in the data directory lets one do so while the others wait. Returns the
    result of `probe`, and the pid of the started process, if one was started. Raises NotStarted if the service does not
    answer within START_WITHIN_S (with `end_if_late` this ends it), and OSError if the directory cannot be used.
    `inherited` is what the service takes on, by default that of whoever calls.
    """
    if found := probe():
        return found, None
    import filelock  # noqa: PLC0415 - only who starts a service needs it, and it takes a tenth of a command's start

    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with filelock.FileLock(data_dir / START_LOCK, timeout=START_WITHIN_S):
        if found := probe():
            return found, None
        log_start, child = _spawn(data_dir, inherited or for_service(), settings)
        deadline = time.monotonic() + START_WITHIN_S
        while time.monotonic() < deadline:
            if found := probe():
                return found, child.pid
            if child.poll() is not None:
                break
            time.sleep(_POLL_S)  # only the child knows when it is ready, and its output goes to the log
        if end_if_late:
            child.terminate()
        raise NotStarted(child.returncode, _log_end(data_dir / LOG_FILE, log_start))


def stop(instance: Instance) -> bool:
    """Ask a service to end, and wait END_WITHIN_S for it. Returns whether it has ended."""
    import psutil  # noqa: PLC0415 - only who ends a service needs it

    deadline = time.monotonic() + END_WITHIN_S
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(instance.pid)
        process.terminate()
        while time.monotonic() < deadline:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(_POLL_S)  # it is no child of ours: nothing reports its end
        return False
    return True


def for_service() -> Inherited:
    """Return what a service that is started now takes on."""
    return Inherited(environment.of_service(caller.environ()), caller.folder())


def _noted(data_dir: Path) -> tuple[int, str]:
    try:
        file = json.loads((data_dir / INSTANCE_FILE).read_text(encoding="utf-8"))
        return int(file["pid"]), str(file["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, ""


def _spawn(data_dir: Path, inherited: Inherited, settings: Mapping[str, str]) -> "tuple[int, subprocess.Popen[bytes]]":
    """Start the service in a session of its own, so that it outlives us. Returns the log's size before the start, and
    the process."""
    log = os.open(data_dir / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        log_start = os.fstat(log).st_size
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "browser_service", "up"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=inherited.folder or data_dir,
            env={**inherited.environment, **settings, "BROWSE_DATA_DIR": str(data_dir)},
            start_new_session=True,
        )
    finally:
        os.close(log)
    threading.Thread(target=child.wait, daemon=True).start()  # reaps the process when it ends
    return log_start, child


def _log_end(log: Path, log_start: int) -> list[str]:
    """Return the last lines after byte `log_start`. Earlier lines belong to other starts."""
    with log.open("rb") as file:
        file.seek(log_start)
        logged = file.read(_LOG_END_BYTES).decode(errors="replace")
    return logged.splitlines()[-_LOG_END_LINES:]


def _get(url: str, path: str, within_s: float = _ANSWER_WITHIN_S) -> tuple[int, bytes]:
    """Return the status and body of a response; 0 and no bytes without a response."""
    try:
        with contextlib.closing(_connection(url, within_s)) as connection:
            connection.request("GET", f"{urlsplit(url).path}{path}")
            response = connection.getresponse()
            return response.status, response.read(_MAX_BODY_BYTES)
    except (OSError, http.client.HTTPException):
        return 0, b""


def _connection(url: str, within_s: float) -> http.client.HTTPConnection:
    address = urlsplit(url)
    if address.scheme != "https":
        return http.client.HTTPConnection(address.hostname or "", address.port, timeout=within_s)
    context = ssl.create_default_context()
    if is_local(url):  # its certificate may have another name: the secret is the proof
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(address.hostname or "", address.port, timeout=within_s, context=context)


def json_object(body: bytes) -> dict[str, JsonValue]:
    """Parse a JSON object; empty if the text is none."""
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
