"""Stores the latest requests to people, with how each ended."""

import time
from typing import Final

from browser_service.store.journal import Journal, keep_newest
from shared.events import RequestOver

_MOST: Final = 1_000


class AskedTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def keep(self, over: RequestOver) -> None:
        row = (over.request.request_id, time.time(), over.client_id, over.model_dump_json())
        await self._journal.transact(lambda db: keep_newest(db, "asked", _MOST, *row))

    async def since(self, at: float, limit: int) -> list[tuple[float, RequestOver]]:
        """Return the requests that ended since a time, each with the time of its end, the latest first."""
        sql = "SELECT at, facts FROM asked WHERE at >= ? ORDER BY at DESC LIMIT ?"
        rows = await self._journal.read(sql, at, limit)
        return [(float(str(ended)), RequestOver.model_validate_json(str(facts))) for ended, facts in rows]
