"""Finds what a killed service left running, by the record that it kept, and ends it."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil
import structlog

from browser_service.host.launching.processes import WatchedProcess, describe_process, end_all, find_process
from shared.model import Json

_log = structlog.get_logger(__name__)

_FILE: Final = "running.json"


class Orphans:
    """Keeps the record beside the profile, from the start of a driver until its end in good order."""

    def __init__(self, directory: Path) -> None:
        self._record = directory / _FILE

    def record(self, processes: Iterable[psutil.Process]) -> None:
        """Record that these processes run, and no others."""
        running = list[Json]()
        for process in processes:
            with contextlib.suppress(psutil.Error):
                running.append(describe_process(process))
        try:
            self._record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._record.write_text(json.dumps(running), encoding="utf-8")
        except OSError as error:  # a full disk is no reason to have no browser
            _log.warning("what runs cannot be noted down", reason=str(error))

    def forget(self) -> None:
        """Delete the record: all have ended in good order."""
        with contextlib.suppress(OSError):
            self._record.unlink(missing_ok=True)

    async def end(self) -> bool:
        """End what still runs of an earlier service; return True if it had ended badly."""
        if not self._record.exists():
            return False
        await asyncio.to_thread(end_all, [WatchedProcess(process) for process in self._running()])
        self.forget()
        return True

    def _running(self) -> list[psutil.Process]:
        """Return the recorded processes that run."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            records = json.loads(self._record.read_text(encoding="utf-8"))
            return [process for record in records if (process := find_process(record)) is not None]
        return []
