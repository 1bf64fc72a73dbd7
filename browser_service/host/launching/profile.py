"""Hands the profile on disk to a person's ordinary window and takes it back, session cookies included."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

import psutil

from shared.model import Json

_MARK: Final = "handed-over.json"
"""This file lies in the profile from before the window opens until our browser has the cookies that it left."""
_TABS: Final = ("Sessions", "Sessions_Encrypted")
_CONTINUE_WHERE_LEFT_OFF: Final = 1
_ENDS_WITHIN_S: Final = 10


class Profile:
    """Hands over a Chromium profile, and takes it back.

    Chromium drops its session cookies when its last window closes and again when it starts, unless it is set to
    continue where it left off. So it is set to that while the profile is handed over, and the tabs that it would
    continue with are removed: only the logins stay.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._mark = directory / _MARK
        self._preferences = directory / "Default" / "Preferences"

    @property
    def is_lent(self) -> bool:
        """Say if a person's window was the last to have it."""
        return self._mark.exists()

    def lend(self) -> None:
        """Mark the profile, and keep its session cookies. Call this before the window opens."""
        self._mark.write_text("{}", encoding="utf-8")
        self._continue_sessions()

    def record_window(self, process: psutil.Process) -> None:
        """Record the window's process, so that the next service finds it if this one is killed."""
        self._mark.write_text(json.dumps({"pid": process.pid, "started": process.create_time()}), encoding="utf-8")

    async def reclaim(self) -> bool:
        """End a window that was left behind, before our browser starts. Return True if session cookies came with it."""
        if not self.is_lent:
            return False
        window = self._window()
        if window is not None:
            await asyncio.to_thread(interrupt, window)
        kept = self._settings().get("restore_on_startup") == _CONTINUE_WHERE_LEFT_OFF
        self._continue_sessions()
        return kept

    def clear_mark(self) -> None:
        """Remove the mark: our browser has started, and knows the cookies."""
        self._mark.unlink(missing_ok=True)

    def forget_setting(self) -> None:
        """Drop the setting: after a sudden end the browser must not restore a login that was ended since."""
        if self._settings().get("restore_on_startup") == _CONTINUE_WHERE_LEFT_OFF:
            self._set("restore_on_startup", None)

    def _window(self) -> psutil.Process | None:
        """Return the recorded process, and no later one with the same id."""
        try:
            noted = json.loads(self._mark.read_text(encoding="utf-8"))
            process = psutil.Process(int(noted["pid"]))
            return process if process.create_time() == noted["started"] else None
        except (OSError, ValueError, KeyError, psutil.Error):
            return None

    def _continue_sessions(self) -> None:
        for name in _TABS:
            shutil.rmtree(self.directory / "Default" / name, ignore_errors=True)
        self._set("restore_on_startup", _CONTINUE_WHERE_LEFT_OFF)

    def _settings(self) -> Json:
        found = self._read().get("session")
        return found if isinstance(found, dict) else {}

    def _set(self, name: str, value: int | None) -> None:
        settings = {**self._settings(), name: value}
        if value is None:
            del settings[name]
        self._preferences.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._preferences.with_suffix(".new")
        written.write_text(json.dumps({**self._read(), "session": settings}), encoding="utf-8")
        os.replace(written, self._preferences)  # noqa: PTH105 - the other spelling says less

    def _read(self) -> Json:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._preferences.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
        return {}


def interrupt(process: psutil.Process) -> None:
    """End a browser as Ctrl+C does. Chromium loses the cookies of the last 30 s if it is asked to terminate."""
    with contextlib.suppress(psutil.NoSuchProcess):
        if sys.platform == "win32":
            process.terminate()
        else:
            process.send_signal(signal.SIGINT)
        _, alive = psutil.wait_procs([process], timeout=_ENDS_WITHIN_S)
        for left in alive:
            left.kill()
        psutil.wait_procs(alive, timeout=_ENDS_WITHIN_S)
