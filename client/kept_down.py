"""The note in a data directory that its service was ended on purpose, so that no chat of then starts it again."""

import json
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Self

from shared.wire import DOWN_FILE


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
