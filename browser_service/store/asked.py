"""Stores the latest requests to people, with how each ended."""

import sqlite3
import time
from typing import Final

from browser_service.store.journal import Journal
from shared.events import RequestOver

_MOST: Final = 1_000


class AskedTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def keep(self, over: RequestOver) -> None:
        row = (over.request.request_id, time.time(), over.client_id, over.model_dump_json())

        def keep(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO asked VALUES (?, ?, ?, ?)", row)
            oldest = "SELECT rowid FROM asked ORDER BY at DESC LIMIT -1 OFFSET ?"
            db.execute(f"DELETE FROM asked WHERE rowid IN ({oldest})", (_MOST,))  # noqa: S608 - a text of ours

        await self._journal.transact(keep)

    async def since(self, at: float, limit: int) -> list[tuple[float, RequestOver]]:
        """Return the requests that ended since a time, each with that of its end, the latest first."""
        sql = "SELECT at, facts FROM asked WHERE at >= ? ORDER BY at DESC LIMIT ?"
        rows = await self._journal.read(sql, at, limit)
        return [(float(str(ended)), RequestOver.model_validate_json(str(facts))) for ended, facts in rows]
