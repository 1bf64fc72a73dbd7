"""What agents asked people for, and how it ended."""

import asyncio
from dataclasses import dataclass, field

import structlog

from browse_together.contract.background import Background
from browse_together.contract.errors import JournalFailed
from browse_together.contract.events import RequestOver
from browser_service.store.tables import AskedTable

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Asked:
    """The requests to people that are over, as the journal has them."""

    table: AskedTable
    _writing: Background = field(default_factory=Background)

    def note(self, over: RequestOver) -> None:
        self._writing.spawn(self._write(over))

    async def since(self, at: float, limit: int) -> list[tuple[float, RequestOver]]:
        """Return the requests that ended since a time, each with the time of its end, the latest first."""
        await self.close()
        return await self.table.since(at, limit)

    async def close(self) -> None:
        """Wait until all are written."""
        await asyncio.shield(self._writing.finish())  # whoever is cancelled here cancels no writing

    async def _write(self, over: RequestOver) -> None:
        try:
            await self.table.keep(over)
        except JournalFailed as error:
            log.warning("a request to a person cannot be written", reason=str(error))
