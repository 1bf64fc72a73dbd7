"""What a service that was killed left running: found by the record that it kept, and ended."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil
import structlog

from browser_service.host.launching.processes import Watched, end_all

_log = structlog.get_logger(__name__)

_FILE: Final = "running.json"
_SAME_S: Final = 1.0
"""A clock that was set meanwhile moves the time at which a process began; a number is not given out anew so soon."""


class Orphans:
    """The record lies beside what runs on it, from the start of a driver until its end in good order."""

    def __init__(self, directory: Path) -> None:
        self._record = directory / _FILE

    @property
    def noted(self) -> bool:
        """Whether something runs by the record, or ended in no good order."""
        return self._record.exists()

    def note(self, processes: Iterable[psutil.Process]) -> None:
        """These run from now on, and no others."""
        known = []
        for process in processes:
            with contextlib.suppress(psutil.Error):
                known.append({"pid": process.pid, "name": process.name(), "started": process.create_time()})
        try:
            self._record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._record.write_text(json.dumps(known), encoding="utf-8")
        except OSError as error:  # a full disk is no reason to have no browser
            _log.warning("what runs cannot be noted down", reason=str(error))

    def forget(self) -> None:
        """All have ended, in good order."""
        with contextlib.suppress(OSError):
            self._record.unlink(missing_ok=True)

    async def end(self) -> bool:
        """End what still runs of an earlier service; whether it had ended in no good order."""
        if not self.noted:
            return False
        await asyncio.to_thread(end_all, [Watched(process) for process in self._left()])
        self.forget()
        return True

    def _left(self) -> list[psutil.Process]:
        """Those very processes, and not later ones of the same numbers."""
        found = []
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            for noted in json.loads(self._record.read_text(encoding="utf-8")):
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(int(noted["pid"]))
                    same = abs(process.create_time() - float(noted["started"])) < _SAME_S
                    if same and process.name() == noted["name"]:
                        found.append(process)
        return found
