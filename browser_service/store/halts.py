"""Stores which agents a person has stopped, so that a stop outlasts the service."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from browser_service.store.journal import Journal


class KeptHalt(NamedTuple):
    """A stop of a client, or of all (without an id); with 0 as `at`, a client that was let go alone meanwhile."""

    client_id: str
    by: str
    at: float


class HaltTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> list[KeptHalt]:
        rows = await self._journal.read("SELECT client_id, by, at FROM halts")
        return [KeptHalt(str(client_id), str(by), float(str(at))) for client_id, by, at in rows]

    async def write(self, halts: Sequence[KeptHalt]) -> None:
        """Write all stops in place of the former ones."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM halts")
            db.executemany("INSERT INTO halts VALUES (?, ?, ?)", halts)

        await self._journal.transact(write)
