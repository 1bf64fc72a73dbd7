"""Reports trouble with the service's own files: in the log, to every client once, and in the readiness figures."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from browse_together.contract.errors import JournalFailed

log = structlog.get_logger(__name__)


class Storage:
    """Whether the journal can be written now, and reports of files that could not be used."""

    def __init__(self, data_dir: Path, announce: Callable[[str], None]) -> None:
        self._data_dir = data_dir
        self._announce = announce
        self.problem = ""
        """Why nothing can be written now; empty if all is well."""
        self.on_replaced: list[Callable[[], Awaitable[None]]] = []
        """Called after the journal was replaced, to write what only memory still has."""
        self._writing: asyncio.Task[None] | None = None

    def report(self, text: str) -> None:
        """Log an event, and announce it to every client."""
        log.warning("storage", what=text)
        self._announce(text)

    def replaced(self, text: str) -> None:
        """Report that the journal has a new file, and start writing the open sessions and pages to it."""
        self.report(text)
        self._writing = asyncio.create_task(self._write_anew())

    async def _write_anew(self) -> None:
        try:
            for write in self.on_replaced:
                await write()
        except JournalFailed as error:
            self.failed(error)

    def failed(self, error: JournalFailed) -> None:
        log.warning("the journal cannot be written", reason=str(error))
        if not self.problem:
            self._announce(
                f"{error.message} What is open goes on, and is written when that can be done again; until then it "
                f"would be lost with the service. A person should look at the disk of {self._data_dir}."
            )
        self.problem = error.message

    def worked(self) -> None:
        if self.problem:
            self.problem = ""
            self.report("The journal can be written again: nothing of what is open now would be lost.")
