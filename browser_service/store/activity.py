"""Stores the newest records of who did what, one row per call."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from browser_service.store.journal import Journal

_MOST_ROWS = 50_000
"""About a month of busy agents, or 20 MB."""
_MOST_LISTED = 200
_BESIDE = ("thumbnails", "asked", "threads")
"""The tables that are forgotten together with the rows."""


class Row(NamedTuple):
    id: int
    at: float
    client_id: str
    label: str
    private_to: str | None
    """The only client besides the caller that may see the row; None if all may."""
    page_id: str | None
    session_id: str | None
    action: str
    outcome: str
    ms: int
    call_id: str
    detail: str = "{}"
    """JSON with the call's arguments, URLs and requests."""


class Chat(NamedTuple):
    """A client and its acts within a time."""

    client_id: str
    label: str
    acts: int
    failed: int
    first_at: float
    last_at: float


class UsedPage(NamedTuple):
    """A page on which a client acted."""

    client_id: str
    page_id: str
    session_id: str
    acts: int
    last_at: float


@dataclass(frozen=True)
class RowFilter:
    """A selection of rows, applied both in memory and in SQL."""

    equal: Mapping[str, str] = field(default_factory=dict)
    action: str | None = None
    """Also matches an action that is a part of another, such as a step of a batch."""
    label: str | None = None
    since: float | None = None
    until: float | None = None

    def matches(self, row: Row) -> bool:
        return (
            all(getattr(row, column) == value for column, value in self.equal.items())
            and (self.action is None or row.action == self.action or self._part in row.detail)
            and (self.label is None or row.label.casefold() == self.label.casefold())
            and (self.since is None or row.at >= self.since)
            and (self.until is None or row.at <= self.until)
        )

    @property
    def _part(self) -> str:
        """Return how the stored arguments name this action when another action carries it. Quotes inside a text are
        escaped, so a text never matches."""
        return f'"action": "{self.action}"'

    def condition(self) -> tuple[str, list[object]]:
        """Return the selection as an SQL condition with its values. SQLite ignores case for ASCII letters only, so
        callers must check other labels with `matches`."""
        tests: dict[str, object] = {f"{column} = ?": value for column, value in self.equal.items()}
        has_action = """instr('"action": "' || action || '"' || detail, ?) > 0"""
        tests |= {has_action: self._part} if self.action is not None else {}
        tests |= {"at >= ?": self.since} if self.since is not None else {}
        tests |= {"at <= ?": self.until} if self.until is not None else {}
        tests |= {"label = ? COLLATE NOCASE": self.label} if self.label is not None and self.label.isascii() else {}
        return " AND ".join(tests) or "1", [*tests.values()]


class ActivityTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def last_id(self) -> int:
        ((last,),) = await self._journal.read("SELECT coalesce(max(id), 0) FROM activity")
        return int(str(last))

    async def add(self, rows: Iterable[Row]) -> None:
        """Write rows. The journal's thread consumes an iterator, so building the rows costs the event loop nothing."""

        def write(db: sqlite3.Connection) -> None:
            placeholders = ",".join("?" * len(Row._fields))
            db.executemany(f"INSERT OR IGNORE INTO activity VALUES ({placeholders})", rows)  # noqa: S608 - question marks
            db.execute("DELETE FROM activity WHERE id <= (SELECT max(id) FROM activity) - ?", (_MOST_ROWS,))

        await self._journal.transact(write)

    async def before(self, row_id: int, row_filter: RowFilter, limit: int) -> list[Row]:
        """Return the newest `limit` selected rows that are older than `row_id`."""
        condition, values = row_filter.condition()
        sql = f"SELECT * FROM activity WHERE id < ? AND {condition} ORDER BY id DESC LIMIT ?"  # noqa: S608 - our columns
        return [Row._make(row) for row in await self._journal.read(sql, row_id, *values, limit)]

    async def clients(self) -> dict[str, set[str]]:
        """Return the labels that each client has had, by the client's id."""
        labels: dict[str, set[str]] = {}
        for client_id, label in await self._journal.read("SELECT DISTINCT client_id, label FROM activity"):
            labels.setdefault(str(client_id), set()).add(str(label))
        return labels

    async def rename(self, client_id: str, label: str) -> None:
        await self._journal.write("UPDATE activity SET label = ? WHERE client_id = ?", label, client_id)

    async def rows(self, row_ids: Iterable[int]) -> list[Row]:
        """Return the rows with these ids; ids without a row are skipped."""
        ids = [*row_ids]
        sql = f"SELECT * FROM activity WHERE id IN ({','.join('?' * len(ids))})"  # noqa: S608 - question marks
        return [Row._make(row) for row in await self._journal.read(sql, *ids)]

    async def chats_since(self, at: float) -> list[Chat]:
        """Return who acted since a time, the latest first."""
        sql = (
            "SELECT client_id, label, count(*), sum(outcome != 'ok'), min(at), max(at) FROM activity WHERE at >= ?"
            " GROUP BY client_id ORDER BY max(at) DESC LIMIT ?"
        )
        return [Chat._make(row) for row in await self._journal.read(sql, at, _MOST_LISTED)]

    async def pages_since(self, at: float) -> list[UsedPage]:
        """Return the pages on which each client acted since a time, the latest first."""
        sql = (
            "SELECT client_id, page_id, session_id, count(*), max(at) FROM activity WHERE at >= ?"
            " AND page_id IS NOT NULL GROUP BY client_id, page_id ORDER BY max(at) DESC LIMIT ?"
        )
        return [UsedPage._make(row) for row in await self._journal.read(sql, at, _MOST_LISTED)]

    async def forget(self, client_ids: Collection[str]) -> int:
        """Delete these clients' rows, pictures, requests to people and threads, overwrite their bytes on disk, and
        return the number of rows."""

        def delete(db: sqlite3.Connection) -> int:
            db.execute("PRAGMA secure_delete = ON")
            for table in _BESIDE:
                sql = f"DELETE FROM {table} WHERE client_id = ?"  # noqa: S608 - a name of ours
                db.executemany(sql, [(each,) for each in client_ids])
            return sum(db.execute("DELETE FROM activity WHERE client_id = ?", (each,)).rowcount for each in client_ids)

        count = await self._journal.transact(delete)
        await self._journal.read("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    async def forget_before(self, at: float) -> None:
        for table in ("activity", *_BESIDE):
            await self._journal.write(f"DELETE FROM {table} WHERE at < ?", at)  # noqa: S608 - as above
