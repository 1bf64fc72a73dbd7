"""The service as a process: finding it by its data directory, starting it detached, ending it."""

import contextlib
import json
import os
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import psutil
from filelock import FileLock
from pydantic import JsonValue

from browser_service.cli import logfile
from browser_service.cli.flags import environment
from shared.errors import ServiceUnavailable
from shared.wire import HEALTH, INSTANCE_FILE, LOG_FILE, READY, START_LOCK

START_WITHIN_S: Final = 30.0
END_WITHIN_S: Final = 20.0
_POLL_S: Final = 0.1
_TAIL_LINES: Final = 12


class Instance(NamedTuple):
    """A service that answered."""

    pid: int
    url: str
    version: str
    catalogue: str


def http(url: str, timeout_s: float = 5.0) -> httpx.Client:
    """A client for a service on this machine: no proxy of the environment stands between, no TLS is set up in vain."""
    transport = httpx.HTTPTransport(verify=url.startswith("https:"), trust_env=False)
    return httpx.Client(base_url=url, transport=transport, timeout=timeout_s, trust_env=False)


def health(url: str) -> dict[str, JsonValue] | None:
    """What a service of ours says at that address; None where there is none."""
    with contextlib.suppress(httpx.HTTPError, ValueError), http(url) as client:
        reply = client.get(HEALTH)
        said = reply.json()
        if reply.status_code == HTTPStatus.OK and isinstance(said, dict) and {"pid", "catalogue"} <= said.keys():
            return said
    return None


def ready(url: str) -> dict[str, JsonValue]:
    """How it goes there; nothing where that is not said."""
    with contextlib.suppress(httpx.HTTPError, ValueError), http(url) as client:
        said = client.get(READY).json()
        if isinstance(said, dict):
            return said
    return {}


def find(data_dir: Path) -> Instance | None:
    """The service of this data directory, if the process that wrote its address there answers at it."""
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
    if instance := find(data_dir):
        return instance
    raise ServiceUnavailable(
        f"The service is not running (data directory {data_dir}).", hint="Start it: browse-together up --detach"
    )


def start(data_dir: Path, changes: dict[str, JsonValue]) -> tuple[Instance, bool]:
    """The service, and whether it was this call that started it. Raises ServiceUnavailable, with the log's end."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(data_dir / START_LOCK, timeout=START_WITHIN_S):  # gateways that start a service hold it as well
        if running := find(data_dir):
            return running, False
        child = _spawn(data_dir, changes)
        deadline = time.monotonic() + START_WITHIN_S
        while time.monotonic() < deadline:
            if found := find(data_dir):  # ours, or one that was a moment quicker
                return found, found.pid == child.pid
            if child.poll() is not None:
                raise _not_started(f"It ended with exit code {child.returncode}.", data_dir)
            time.sleep(_POLL_S)
        child.terminate()
        raise _not_started(f"It did not answer within {START_WITHIN_S:.0f} s.", data_dir)


def end(instance: Instance) -> bool:
    """Ask it to end, and wait; whether it did."""
    process = psutil.Process(instance.pid)
    deadline = time.monotonic() + END_WITHIN_S
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        while time.monotonic() < deadline:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(_POLL_S)
        return False
    return True


def _spawn(data_dir: Path, changes: dict[str, JsonValue]) -> "subprocess.Popen[bytes]":
    """A session of its own: it outlives this terminal. This source tree need not be installed."""
    log = os.open(data_dir / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    settings = environment({**changes, "data_dir": str(data_dir)})
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "browser_service", "up"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data_dir,
            env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
            start_new_session=True,
        )
    finally:
        os.close(log)


def _not_started(why: str, data_dir: Path) -> ServiceUnavailable:
    end_of_log = "\n".join(logfile.read(data_dir / LOG_FILE, _TAIL_LINES))
    return ServiceUnavailable(
        f"The service did not start. {why}\n{end_of_log}", hint="`browse-together doctor` says what is missing."
    )
