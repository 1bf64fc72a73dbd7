"""The stops of agents on disk, because a stop must hold also after the service started anew."""

import time
from dataclasses import dataclass

import structlog

from browser_service.rules.halts import Halt, Halts
from browser_service.store.tables import HaltTable, KeptHalt
from shared.errors import JournalFailed

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Stops:
    """The stops of agents, in memory and on disk. Pauses are too short for that."""

    table: HaltTable
    halts: Halts

    async def open(self) -> None:
        clock, now = self.halts.clock(), time.time()
        for client_id, by, at in await self.table.all():
            self.halts.restore(client_id, Halt("stop", by, clock - max(0.0, now - at), at) if at else None)

    async def write_down(self) -> None:
        """Write all stops. What the disk does not take holds in memory."""
        stops = self.halts.stops().items()
        try:
            await self.table.write(
                [KeptHalt(key, each.by, each.at) if each else KeptHalt(key, "", 0) for key, each in stops]
            )
        except JournalFailed as error:
            log.warning("whom a person stopped cannot be written", reason=str(error))
