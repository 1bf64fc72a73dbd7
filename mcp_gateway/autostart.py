"""Starting the browser service where none runs: one, however many gateways want it at once."""

import http.client
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import urlsplit

import filelock

from mcp_gateway.settings import Settings
from shared.wire import HEALTH, LOG_FILE, START_LOCK

START_WITHIN_S = 30.0
_TAIL_LINES = 8
_TAIL_BYTES = 1_000_000


class Autostart:
    """Runs in threads of its own, so that it can begin while the SDK is being imported."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.enabled = settings.autostart and settings.is_local
        self._lock = threading.Lock()
        self._running: Future[str] | None = None

    @property
    def is_under_way(self) -> bool:
        return self._running is not None and not self._running.done()

    def begin(self) -> Future[str]:
        """The start that is under way, or a new one; its result is empty, or says what went wrong."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                self._running.set_running_or_notify_cancel()  # a caller that gives up waiting must not end it
                threading.Thread(target=self._run, args=[self._running], daemon=True).start()
            return self._running

    def _run(self, outcome: Future[str]) -> None:
        try:
            outcome.set_result("" if self._answers() else self._start())
        except (OSError, filelock.Timeout) as error:
            outcome.set_result(f"{type(error).__name__}: {error}")

    def _answers(self) -> bool:
        """Whether a service is at the address, asked with as little as a thread beside the imports should load."""
        url = urlsplit(self.settings.url)
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=2)
        try:
            connection.request("GET", f"{url.path}{HEALTH}")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _start(self) -> str:
        data_dir = self.settings.data_dir
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with filelock.FileLock(data_dir / START_LOCK, timeout=START_WITHIN_S):
            return "" if self._answers() else self._spawn(data_dir)

    def _spawn(self, data_dir: Path) -> str:
        """Start it, detached, and wait until it answers; the lock is held all the while."""
        log = os.open(data_dir / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        began_at = os.fstat(log).st_size
        try:
            service = subprocess.Popen(
                [sys.executable, "-m", "browser_service", "up"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=data_dir,
                env=self._environment(),
                start_new_session=True,
            )
        finally:
            os.close(log)
        threading.Thread(target=service.wait, daemon=True).start()  # nobody else would collect it, should it end
        deadline = time.monotonic() + START_WITHIN_S
        while time.monotonic() < deadline:
            if self._answers():
                return ""
            if service.returncode is not None:
                return f"it ended with exit code {service.returncode}.\n{_tail(data_dir / LOG_FILE, began_at)}"
            time.sleep(0.1)
        return f"it does not answer after {START_WITHIN_S:.0f} s.\n{_tail(data_dir / LOG_FILE, began_at)}"

    def _environment(self) -> dict[str, str]:
        """Ours; the port and the directory are those that we look at, and this source tree need not be installed."""
        places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        return os.environ | {
            "BROWSE_PORT": str(urlsplit(self.settings.url).port or http.client.HTTP_PORT),
            "BROWSE_DATA_DIR": str(self.settings.data_dir),
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
        }


def _tail(log: Path, began_at: int) -> str:
    """The last lines of what was logged from that byte on: those before are of other starts."""
    with log.open("rb") as file:
        file.seek(began_at)
        logged = file.read(_TAIL_BYTES).decode(errors="replace")
    return "\n".join(logged.splitlines()[-_TAIL_LINES:])
