"""What befalls the service's own files, told: in the log, to every client once, and to who asks how it goes."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from shared.errors import JournalFailed

log = structlog.get_logger(__name__)


class Storage:
    """Whether what must outlive the process can be written down, and what became of files that could not be used."""

    def __init__(self, data_dir: Path, announce: Callable[[str], None]) -> None:
        self._data_dir = data_dir
        self._announce = announce
        self.problem = ""
        """Why nothing can be written now."""
        self.on_replaced: list[Callable[[], Awaitable[None]]] = []
        """Those who have in memory what a new journal lacks."""
        self._writing: asyncio.Task[None] | None = None

    def say(self, text: str) -> None:
        """Something happened that whoever works here should know."""
        log.warning("storage", what=text)
        self._announce(text)

    def replaced(self, text: str) -> None:
        """The journal's file is another one: what is open is to be written anew."""
        self.say(text)
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
            self.say("The journal can be written again: nothing of what is open now would be lost.")
