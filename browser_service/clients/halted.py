"""The pauses and stops of agents on disk, because they must hold also after the service started anew."""

import time
from dataclasses import dataclass

import structlog

from browse_together.contract.errors import JournalFailed
from browser_service.rules.halts import Halt, Halts
from browser_service.store.tables import HaltTable, KeptHalt

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Halted:
    """The pauses and stops of agents, in memory and on disk."""

    table: HaltTable
    halts: Halts

    async def open(self) -> None:
        clock, now = self.halts.clock(), time.time()
        for client_id, by, at, how in await self.table.all():
            self.halts.restore(client_id, Halt(how, by, clock - max(0.0, now - at), at) if how else None)

    async def write_down(self) -> None:
        """Write what holds. What the disk does not take holds in memory."""
        halts = self.halts.in_force().items()
        try:
            await self.table.write(
                [KeptHalt(key, each.by, each.at, each.how) if each else KeptHalt(key) for key, each in halts]
            )
        except JournalFailed as error:
            log.warning("whom a person paused or stopped cannot be written", reason=str(error))
