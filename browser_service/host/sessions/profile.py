"""The profile on disk: its repair, and its loan to a person's ordinary window, session cookies included."""

import asyncio
import contextlib
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import psutil

from browse_together.contract.errors import HumanInControl
from browse_together.contract.model import Json, object_at
from browser_service.host.sessions.processes import describe_process, find_process, interrupt
from browser_service.quarantine import set_aside

_MARK: Final = "handed-over.json"
"""This file lies in the profile from before the window opens until our browser has the cookies that it left."""
_TRACES: Final = ("Sessions", "Sessions_Encrypted", "shared_proto_db", "History", "History-journal")
"""The files in which Chromium keeps its tabs and their form fields, to open them again, and the addresses and names of
downloads. It keeps no history of visits."""
_CONTINUE_WHERE_LEFT_OFF: Final = 1
_SWITCHED_OFF: Final = ("credentials_enable_service", "credentials_enable_autosignin")
_NEVER_PREDICT: Final = 2
_NOTHING_TYPED: Final[dict[str, Json]] = {
    "autofill": {"enabled": False, "profile_enabled": False, "credit_card_enabled": False},
    "profile": {"password_manager_enabled": False},
    "search": {"suggest_enabled": False},
    "net": {"network_prediction_options": _NEVER_PREDICT},
    "history": {"saving_disabled": True},
    "signin": {"allowed": False, "allowed_on_next_startup": False},
}
"""Chromium's preferences by their sections."""
_WRONG_CERTIFICATES: Final = "ssl"
_MAY_BE_ACCEPTED: Final = "error_override_allowed"
"""Whether a person can pass the warning of a wrong certificate: for the whole profile, and for a week."""
_COOKIES: Final = (Path("Default", "Cookies"), Path("Default", "Network", "Cookies"))
_BACK: Final = "Cookies come back from what the service has saved; pages' own storage does not."


class Profile:
    """One browser's profile.

    Chromium drops its session cookies when its last window closes and again when it starts, unless it is set to
    continue where it left off. So we set it to that while the profile is lent, and remove the tabs with which it would
    continue: only the logins stay.
    """

    def __init__(self, directory: Path, file_damage: Callable[[Path], str]) -> None:
        self.directory = directory
        self.repairs: list[str] = []
        """What was set aside of the profile, until a notice reports it."""
        self.has_session_cookies = False
        """True if the profile brought the session cookies of a person's window with it."""
        self._file_damage = file_damage
        self._mark = directory / _MARK
        self._preferences = directory / "Default" / "Preferences"
        self._reserved_since: datetime | None = None

    # --- while our browser has it -----------------------------------------------------------------------------------

    @property
    def is_new(self) -> bool:
        """True if nothing is in it."""
        return not self.directory.is_dir() or not any(self.directory.iterdir())

    async def prepare(self, engine: str) -> None:
        """Repair the profile, and take it back from a person's window, before our browser starts on it."""
        await asyncio.to_thread(self._repair)
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if engine == "chromium":
            self.has_session_cookies = await self.reclaim()
            self._restrict()
            self.forget_traces()
            if not self._is_lent and self._continues_sessions:
                # after a sudden end the browser must not restore a login that was ended since
                self._set("restore_on_startup", None)

    def forget_traces(self) -> None:
        """Remove what an ended browser kept of its tabs, of text typed in them, and of downloads."""
        for path in (self.directory / "Default" / name for name in _TRACES):
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):  # it was a folder, or there is none, or another program has it open
                path.unlink()

    def set_aside(self) -> None:
        """Set the profile aside, because no browser starts on it."""
        name = set_aside(self.directory).name
        self.repairs.append(f"The browser did not start on its profile: that lies aside as {name}. {_BACK}")

    def clear_mark(self) -> None:
        """Remove the mark, because our browser has started and knows the cookies."""
        self._mark.unlink(missing_ok=True)

    def _repair(self) -> None:
        """Set aside a damaged file of cookies before the browser silently removes it."""
        if self.directory.exists() and not self.directory.is_dir():
            name = set_aside(self.directory).name
            self.repairs.append(f"The profile was no folder: it lies aside as {name}. {_BACK}")
            return
        for file in (self.directory / name for name in _COOKIES):
            if file.is_file() and self._file_damage(file):
                name = set_aside(file, ("-journal",)).name
                self.repairs.append(f"The profile's cookies were damaged: they lie aside as {name}.")

    # --- while a person has it ---------------------------------------------------------------------------------------

    @property
    def is_reserved(self) -> bool:
        return self._reserved_since is not None

    def check_free(self) -> None:
        """Raise HumanInControl while a person has the profile."""
        if self._reserved_since is not None:
            raise HumanInControl(
                "A person is signing in at this machine, in an ordinary window that has the profile "
                f"(since {self._reserved_since:%H:%M:%S}). Nothing was done.",
                hint="Repeat the call when they have closed it; every page comes back under its pageId.",
            )

    def reserve(self) -> None:
        """Reserve the profile for a person: until `free`, no browser starts on it. Raises HumanInControl if another has
        it."""
        self.check_free()
        self._reserved_since = datetime.now().astimezone()

    def free(self) -> None:
        self._reserved_since = None

    def lend(self) -> None:
        """Mark the profile as lent, keep its session cookies, and let the person accept a certificate, which then holds
        for agents too. Call this before the window opens."""
        self._mark.write_text("{}", encoding="utf-8")
        self._continue_sessions()
        self._write({**self._read(), _WRONG_CERTIFICATES: {_MAY_BE_ACCEPTED: True}})

    def record_window(self, process: psutil.Process) -> None:
        """Record the window's process, so that the next service finds it if this one is killed."""
        self._mark.write_text(json.dumps(describe_process(process)), encoding="utf-8")

    async def reclaim(self) -> bool:
        """End a window that was left behind, before our browser starts. Returns True if session cookies came with
        it."""
        if not self._is_lent:
            return False
        window = self._window()
        if window is not None:
            await asyncio.to_thread(interrupt, window)
        has_session_cookies = self._continues_sessions
        self._continue_sessions()
        return has_session_cookies

    @property
    def _is_lent(self) -> bool:
        """True if a person's window was the last to have the profile."""
        return self._mark.exists()

    def _window(self) -> psutil.Process | None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            return find_process(json.loads(self._mark.read_text(encoding="utf-8")))
        return None

    # --- Chromium's preferences --------------------------------------------------------------------------------------

    @property
    def _continues_sessions(self) -> bool:
        return self._startup().get("restore_on_startup") == _CONTINUE_WHERE_LEFT_OFF

    def _continue_sessions(self) -> None:
        self.forget_traces()
        self._set("restore_on_startup", _CONTINUE_WHERE_LEFT_OFF)

    def _startup(self) -> Json:
        return object_at(self._read(), "session")

    def _restrict(self) -> None:
        """Turn off all that keeps typed text in the profile, or sends it out (autofill, passwords, predictions), and
        all that lets an agent accept a wrong certificate for everybody."""
        preferences = self._read()
        wanted: Json = {**preferences, _WRONG_CERTIFICATES: {_MAY_BE_ACCEPTED: False}}
        for section, values in _NOTHING_TYPED.items():
            wanted[section] = {**object_at(wanted, section), **values}
        wanted |= dict.fromkeys(_SWITCHED_OFF, False)
        if wanted != preferences:
            self._write(wanted)

    def _set(self, name: str, value: int | None) -> None:
        startup = {**self._startup(), name: value}
        if value is None:
            del startup[name]
        self._write({**self._read(), "session": startup})

    def _write(self, preferences: Json) -> None:
        self._preferences.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._preferences.with_suffix(".new")
        written.write_text(json.dumps(preferences), encoding="utf-8")
        os.replace(written, self._preferences)  # noqa: PTH105 - the other spelling says less

    def _read(self) -> Json:
        with contextlib.suppress(OSError, ValueError):
            preferences = json.loads(self._preferences.read_text(encoding="utf-8"))
            if isinstance(preferences, dict):
                return preferences
        return {}
