"""Starts the service for a client that needs it, unless its person has ended it on purpose."""

import copy
import http.client
import json
import threading
import time
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Self
from urllib.parse import urlsplit

from browse_together.client import caller, instance
from browse_together.contract.wire import BY_GATEWAY, DOWN_FILE

_SHOWN_LOG_LINES: Final = 8


class KeptDown(NamedTuple):
    """An end on purpose. Times are seconds since 1970."""

    at: float
    until: float | None
    """Until then only `up` starts the service again; without it, a client that came after the end does too."""

    @classmethod
    def read(cls, data_dir: Path) -> Self | None:
        """Return the note; None without one, or with one that says nothing."""
        try:
            note = json.loads((data_dir / DOWN_FILE).read_text(encoding="utf-8"))
            at, until = float(note["at"]), note["until"]
            kept = cls(at, None if until is None else float(until))
            _ = kept.words  # which a time that no clock shows has not
        except (OSError, OverflowError, ValueError, KeyError, TypeError):
            return None
        return kept

    @classmethod
    def for_client(cls, data_dir: Path, since: float) -> Self | None:
        """Return the note if it keeps a client that came at that time from starting the service."""
        note = cls.read(data_dir)
        if note is None or (since > note.at if note.until is None else time.time() > note.until):
            return None
        return note

    def write(self, data_dir: Path) -> bool:
        """Leave the note. Returns whether it could be left: not on a full disk, or without the directory."""
        try:
            (data_dir / DOWN_FILE).write_text(json.dumps(self._asdict()), encoding="utf-8")
        except OSError:
            return False
        return True

    @property
    def words(self) -> str:
        """Return when it ended, and how long it stays down."""
        return f"It was ended at {_clock(self.at)} by `browse-together down`. {self.stays}"

    @property
    def stays(self) -> str:
        until = "a new chat needs it" if self.until is None else _clock(self.until)
        return f"It stays down until {until}, or until `browse-together up`."


def _clock(at: float) -> str:
    moment = datetime.fromtimestamp(at).astimezone()
    is_today = moment.date() == datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")


class Autostart:
    """The start of one address's service, in a thread, while this process still imports modules. All its chats share
    it."""

    _lock: ClassVar = threading.Lock()
    _starts: ClassVar[dict[tuple[str, Path], Future[str]]] = {}

    def __init__(self, url: str, data_dir: Path, *, enabled: bool) -> None:
        self.enabled = enabled
        self.data_dir = data_dir
        self._url = url
        self._inherited = instance.for_service() if enabled else None
        given = caller.current()
        self.since = given.since if given else time.time()

    def for_new_chat(self) -> Self:
        """Return the same start for a chat that begins now."""
        other = copy.copy(self)
        other.since = time.time()
        return other

    @property
    def kept_down(self) -> KeptDown | None:
        """Return the note that keeps this chat from starting the service; None if it may."""
        return KeptDown.for_client(self.data_dir, self.since)

    @property
    def is_under_way(self) -> bool:
        problem = self._starts.get((self._url, self.data_dir)) if self.enabled else None
        return problem is not None and not problem.done()

    def begin(self) -> Future[str]:
        """Return the start in progress, or begin one. The future's result is the problem, or empty."""
        with self._lock:
            problem = self._starts.get((self._url, self.data_dir))
            if problem is None or problem.done():
                self._starts[self._url, self.data_dir] = problem = Future()
                problem.set_running_or_notify_cancel()  # a caller that stops waiting must not cancel it
                try:
                    threading.Thread(target=self._run, args=[problem], daemon=True).start()
                except RuntimeError as error:  # no further thread can be started
                    problem.set_result(str(error))
            return problem

    def _run(self, problem: Future[str]) -> None:
        try:
            settings = {"BROWSE_PORT": str(urlsplit(self._url).port or http.client.HTTP_PORT), BY_GATEWAY: "1"}
            answers = lambda: instance.answers(self._url) or None  # noqa: E731 - one expression
            instance.start(self.data_dir, settings, answers, inherited=self._inherited)
            problem.set_result("")
        except instance.NotStarted as error:
            why = f"it ended with exit code {error.exit_code}."
            if error.exit_code is None:
                why = f"it does not answer after {instance.START_WITHIN_S:.0f} s."
            problem.set_result("\n".join([why, *error.log_end[-_SHOWN_LOG_LINES:]]))
        except OSError as error:
            problem.set_result(f"the data directory {self.data_dir} cannot be used: {error.strerror or error}.")
        except Exception as error:  # noqa: BLE001 - whatever it is: without a result all chats would wait for ever
            problem.set_result(f"{type(error).__name__}: {error}")
