"""Stores what outlives the process. Memory is the authority; the journal is read when the service starts."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from pydantic import Field, ValidationError

from browse_together.contract.calls import DownloadState
from browse_together.contract.errors import JournalFailed
from browse_together.contract.model import Model
from browse_together.contract.pages import PageState
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.store import journal_file
from browser_service.store.journal_file import Damage

MOST_CLOSED_PAGES: Final = 1_000
MOST_DOWNLOADS: Final = 2_000


class ClosedPage(Model):
    """A closed page and the session it belonged to."""

    page_id: str
    session_id: str
    known_to: list[str] = Field(description="Ids and labels of the clients that may think of it; none: all may.")
    closed_at: float = Field(default_factory=time.time)
    of_person: bool = Field(default=False, description="It was a person's tab, or stood for one.")
    by_restart: bool = Field(default=False, description="Its session was not persistent, and ended with the service.")

    @classmethod
    def of(cls, page: PageState, *owner: str) -> "ClosedPage":
        """Make the record of a page. `owner` is the id and label of its session's owner; empty if everybody could use
        the session."""
        holders = {page.holder_id or "", page.holder_label, page.left_by_id or "", page.left_by}
        known_to = sorted({*owner, *holders} - {""}) if owner else []
        of_person = page.of_person
        return cls(page_id=page.page_id, session_id=page.session_id, known_to=known_to, of_person=of_person)


T = TypeVar("T")


class Journal:
    """The SQLite database. One connection in one thread runs all SQL, so that the event loop never waits for the
    disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._db: sqlite3.Connection | None = None
        self.on_damage: Callable[[Damage], None] = lambda _: None
        """Called in the journal's thread after a damaged file was replaced."""

    async def open(self) -> None:
        await self._run(self._connect)

    async def close(self) -> None:
        def shut() -> None:
            if self._db is not None:
                self._db.close()
                self._db = None

        await self._run(shut)
        self._thread.shutdown()

    async def count_start(self) -> int:
        """Return which start of the service this is, counted from one."""

        def count(db: sqlite3.Connection) -> int:
            start = db.execute("INSERT INTO fronts (at) VALUES (?) RETURNING start", (time.time(),)).fetchone()[0]
            db.execute("DELETE FROM fronts WHERE start < ?", (start,))
            return int(start)

        return await self.transact(count)

    # --- pages -------------------------------------------------------------------------------------------------------

    async def pages(self) -> list[PageState]:
        """Return the pages, with their holds shortened by the time since they were stored. Unreadable pages are
        skipped."""
        pages = []
        for state, kept_at in await self.read("SELECT state, kept_at FROM pages ORDER BY rowid"):
            with contextlib.suppress(ValidationError):
                page = PageState.model_validate_json(str(state))
                pages.append(page.after(round((time.time() - float(str(kept_at))) * 1000)) if kept_at else page)
        return pages

    async def keep_page(self, page: PageState) -> None:
        sql = (
            "INSERT INTO pages VALUES (?, ?, ?, ?) ON CONFLICT (page_id)"
            " DO UPDATE SET session_id = excluded.session_id, state = excluded.state, kept_at = excluded.kept_at"
        )

        def keep(db: sqlite3.Connection) -> None:
            db.execute(sql, (page.page_id, page.session_id, page.model_dump_json(), time.time()))
            db.execute("DELETE FROM closed_pages WHERE page_id = ?", (page.page_id,))

        await self.transact(keep)

    async def close_page(self, page_id: str, closed: ClosedPage | None) -> None:
        """Forget a page. `closed`, if any, joins the bounded list of the latest closed pages."""

        def close(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM pages WHERE page_id = ?", (page_id,))
            if closed is not None:
                keep_newest(db, "closed_pages", MOST_CLOSED_PAGES, page_id, closed.model_dump_json())

        await self.transact(close)

    async def closed_pages(self) -> list[ClosedPage]:
        """Return the closed pages, the latest last. Unreadable ones are skipped."""
        closed = []
        for (record,) in await self.read("SELECT record FROM closed_pages ORDER BY rowid"):
            with contextlib.suppress(ValidationError):
                closed.append(ClosedPage.model_validate_json(str(record)))
        return closed

    # --- sessions and their logins -----------------------------------------------------------------------------------

    async def keep_state(self, session_id: str, sealed: bytes) -> None:
        """Store a session's newest logins; the previous ones stay as an earlier state."""

        def keep(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM earlier_states WHERE session_id = ? AND readable", (session_id,))
            _move_state(db, session_id, readable=True)
            db.execute("INSERT INTO session_states VALUES (?, ?)", (session_id, sealed))

        await self.transact(keep)

    async def states(self, session_id: str) -> list[bytes]:
        """Return a session's logins: the newest, the previous ones, then those set aside as unreadable."""
        newest = await self.read("SELECT sealed FROM session_states WHERE session_id = ?", session_id)
        sql = "SELECT sealed FROM earlier_states WHERE session_id = ? ORDER BY readable DESC, kept_at DESC"
        states = [*newest, *await self.read(sql, session_id)]
        return [row[0] for row in states if isinstance(row[0], bytes)]

    async def set_state_aside(self, session_id: str) -> None:
        """Move the newest logins, which cannot be read, out of the way; they stay until the session is forgotten."""
        await self.transact(lambda db: _move_state(db, session_id, readable=False))

    async def keep_session(self, session_id: str, sealed: bytes) -> None:
        sql = "INSERT INTO sessions VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET sealed = excluded.sealed"
        await self.write(sql, session_id, sealed)

    async def sessions(self) -> dict[str, bytes]:
        rows = await self.read("SELECT session_id, sealed FROM sessions ORDER BY rowid")
        return {str(name): sealed for name, sealed in rows if isinstance(sealed, bytes)}

    async def forget_session(self, session_id: str) -> None:
        """Forget a session with its logins and pages."""

        def forget(db: sqlite3.Connection) -> None:
            for table in ("sessions", "session_states", "earlier_states", "saved_states", "pages"):
                db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608 - names of ours

        await self.transact(forget)

    async def forget_ended_sessions(self) -> None:
        """Forget the logins of sessions that were not persistent."""

        def forget(db: sqlite3.Connection) -> None:
            for table in ("session_states", "earlier_states", "saved_states"):
                db.execute(
                    f"DELETE FROM {table} WHERE session_id NOT IN (SELECT session_id FROM sessions)"  # noqa: S608 - names of ours
                    " AND session_id != ?",
                    (DEFAULT_SESSION,),
                )

        await self.transact(forget)

    async def keep_saved(self, session_id: str, name: str, sealed: bytes, client_id: str) -> None:
        """Keep a saved state, unless another client has saved one under that name."""
        sql = (
            "INSERT INTO saved_states (session_id, name, sealed, client_id) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET sealed = excluded.sealed, client_id = excluded.client_id"
            " WHERE saved_states.client_id IN ('', excluded.client_id)"
        )
        await self.write(sql, session_id, name, sealed, client_id)

    async def saved_by(self, session_id: str, name: str) -> str:
        """Return the client that saved a state under that name; empty if there is none, or it is unknown."""
        rows = await self.read("SELECT client_id FROM saved_states WHERE session_id = ? AND name = ?", session_id, name)
        return str(rows[0][0]) if rows else ""

    async def saved(self, session_id: str, name: str) -> bytes | None:
        sql = "SELECT sealed FROM saved_states WHERE session_id = ? AND name = ?"
        rows = await self.read(sql, session_id, name)
        sealed = rows[0][0] if rows else None
        return sealed if isinstance(sealed, bytes) else None

    async def saved_names(self, session_id: str) -> list[str]:
        sql = "SELECT name FROM saved_states WHERE session_id = ? ORDER BY name"
        return [str(row[0]) for row in await self.read(sql, session_id)]

    # --- downloads that have ended, and revoked tokens ---------------------------------------------------------------

    async def keep_download(self, download: DownloadState) -> None:
        """Keep a download, and forget the oldest ones beyond the limit."""
        row = (download.download_id, time.time(), download.model_dump_json())
        await self.transact(lambda db: keep_newest(db, "downloads", MOST_DOWNLOADS, *row))

    async def downloads(self) -> list[DownloadState]:
        """Return all downloads, the oldest first."""
        rows = await self.read("SELECT state FROM downloads ORDER BY at")
        return [DownloadState.model_validate_json(str(state)) for (state,) in rows]

    async def forget_downloads(self, ended_before: float) -> list[str]:
        """Forget the downloads that ended before a time, and return their ids."""
        rows = await self.read("DELETE FROM downloads WHERE at < ? RETURNING download_id", ended_before)
        return [str(download_id) for (download_id,) in rows]

    async def keep_revoked(self, tokens: dict[str, float], clients: dict[str, float]) -> None:
        """Store the ids of revoked tokens and clients, each with the time of its revocation."""
        rows = [("token", *item) for item in tokens.items()] + [("client", *item) for item in clients.items()]
        sql = "INSERT OR REPLACE INTO revoked VALUES (?, ?, ?)"
        await self.transact(lambda db: db.executemany(sql, rows))

    async def forget_revoked(self, tokens: set[str], clients: set[str]) -> None:
        rows = [("token", each) for each in tokens] + [("client", each) for each in clients]
        sql = "DELETE FROM revoked WHERE kind = ? AND value = ?"
        await self.transact(lambda db: db.executemany(sql, rows))

    async def revoked(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the revoked token ids and the revoked client ids, each with the time of its revocation."""
        by_kind: dict[str, dict[str, float]] = {"token": {}, "client": {}}
        for kind, value, at in await self.read("SELECT kind, value, at FROM revoked"):
            by_kind[str(kind)][str(value)] = float(str(at))
        return by_kind["token"], by_kind["client"]

    # --- the connection ----------------------------------------------------------------------------------------------

    async def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in the journal's thread, in its own transaction, and return its result."""

        def run() -> T:
            with self._connection() as db:
                return work(db)

        return await self._run(run)

    async def read(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """Return the rows of one statement."""
        return await self.transact(lambda db: db.execute(sql, values).fetchall())

    async def write(self, sql: str, *values: object) -> None:
        await self.transact(lambda db: db.execute(sql, values))

    def _connect(self) -> None:
        self._db, damage = journal_file.connect(self._path)
        if damage:
            self.on_damage(damage)

    def _replace(self, error: sqlite3.Error) -> None:
        if self._db is not None:
            self._db.close()
        self._db, damage = journal_file.replace(self._path, error)
        self.on_damage(damage)

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise RuntimeError("the journal is not open")
        return self._db

    async def _run(self, work: Callable[[], T]) -> T:
        def run() -> T:
            try:
                return work()
            except sqlite3.Error as error:
                if self._db is None or not journal_file.is_damage(error):
                    raise
                self._replace(error)
                return work()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, run)
        except (sqlite3.Error, OSError) as error:
            raise JournalFailed(f"{self._path} cannot be used: {error}.") from error


def keep_newest(db: sqlite3.Connection, table: str, most: int, *row: object) -> None:
    """Insert a row, or replace the one of its key, and remove the oldest rows beyond `most`."""
    db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({','.join('?' * len(row))})", row)  # noqa: S608 - a table of ours
    oldest = f"SELECT rowid FROM {table} ORDER BY rowid DESC LIMIT -1 OFFSET ?"  # noqa: S608 - as above
    db.execute(f"DELETE FROM {table} WHERE rowid IN ({oldest})", (most,))  # noqa: S608 - as above


def _move_state(db: sqlite3.Connection, session_id: str, *, readable: bool) -> None:
    moved = "SELECT session_id, ?, ?, sealed FROM session_states WHERE session_id = ?"
    db.execute(f"INSERT INTO earlier_states {moved}", (time.time(), readable, session_id))
    db.execute("DELETE FROM session_states WHERE session_id = ?", (session_id,))
