"""A service is started where none runs: once, however many calls wait for it."""

import http.client
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from client.instance import START_WITHIN_S, NotStarted, answers, start

_SHOWN_LINES: Final = 8


class Autostart:
    """Starts the service of one address in a thread of its own, so that it can begin while the rest is imported."""

    def __init__(self, url: str, data_dir: Path, *, enabled: bool) -> None:
        self.enabled = enabled
        self.data_dir = data_dir
        self._url = url
        self._lock = threading.Lock()
        self._running: Future[str] | None = None

    @property
    def is_under_way(self) -> bool:
        return self._running is not None and not self._running.done()

    def begin(self) -> Future[str]:
        """Return the start that is under way, or a new one. Its result is empty, or says what went wrong."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                self._running.set_running_or_notify_cancel()  # a caller that gives up waiting must not end it
                threading.Thread(target=self._run, args=[self._running], daemon=True).start()
            return self._running

    def _run(self, outcome: Future[str]) -> None:
        settings = {"BROWSE_PORT": str(urlsplit(self._url).port or http.client.HTTP_PORT)}
        try:
            start(self.data_dir, settings, lambda: answers(self._url) or None)
            outcome.set_result("")
        except NotStarted as error:
            outcome.set_result(_problem(error))
        except OSError as error:
            outcome.set_result(f"{type(error).__name__}: {error}")


def _problem(error: NotStarted) -> str:
    why = f"it does not answer after {START_WITHIN_S:.0f} s."
    if error.exit_code is not None:
        why = f"it ended with exit code {error.exit_code}."
    return "\n".join([why, *error.log_end[-_SHOWN_LINES:]])
