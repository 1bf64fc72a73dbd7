"""Stores the tokens that are refused."""

import sqlite3

from browser_service.store.journal import Journal, migration


@migration
def m_revoked(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE revoked (kind TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, UNIQUE (kind, value))")


class RevocationTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the ids of tokens, and those of clients, each with the time of its revocation."""
        rows = await self._journal.transact(lambda db: db.execute("SELECT kind, value, at FROM revoked").fetchall())
        of = {kind: {str(value): float(at) for each, value, at in rows if each == kind} for kind in ("token", "client")}
        return of["token"], of["client"]

    async def keep(self, tokens: dict[str, float], clients: dict[str, float]) -> None:
        rows = [("token", value, at) for value, at in tokens.items()]
        rows += [("client", value, at) for value, at in clients.items()]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO revoked VALUES (?, ?, ?)", rows)

        await self._journal.transact(write)
