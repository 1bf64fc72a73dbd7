"""Stores the downloads that have ended."""

import sqlite3
import time

from browser_service.store.journal import Journal, migration
from shared.calls import DownloadState

_DAY_S = 86_400


@migration
def m_downloads(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE downloads (download_id TEXT PRIMARY KEY, at REAL NOT NULL, state TEXT NOT NULL)")


class DownloadTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def keep(self, download: DownloadState) -> None:
        row = (download.download_id, time.time(), download.model_dump_json())
        await self._journal.transact(lambda db: db.execute("INSERT OR REPLACE INTO downloads VALUES (?, ?, ?)", row))

    async def all(self) -> list[DownloadState]:
        """Return all downloads, the oldest first."""
        sql = "SELECT state FROM downloads ORDER BY at"
        rows = await self._journal.transact(lambda db: db.execute(sql).fetchall())
        return [DownloadState.model_validate_json(row[0]) for row in rows]

    async def clean(self, days: int) -> list[str]:
        """Remove downloads that ended more than `days` ago, and return their ids."""
        horizon = time.time() - days * _DAY_S
        sql = "DELETE FROM downloads WHERE at < ? RETURNING download_id"
        rows = await self._journal.transact(lambda db: db.execute(sql, (horizon,)).fetchall())
        return [str(row[0]) for row in rows]
