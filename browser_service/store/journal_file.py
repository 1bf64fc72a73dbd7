"""Opens the journal's file. A damaged file is set aside and its readable rows are copied into a new one; a file of a
newer version is refused."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Final, NamedTuple

from browser_service.quarantine import set_aside

MIGRATIONS: Final[dict[str, tuple[str, ...]]] = {
    "m001_pages_states_artifacts": (
        "CREATE TABLE pages (page_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, state TEXT NOT NULL)",
        "CREATE TABLE session_states (session_id TEXT PRIMARY KEY, sealed BLOB NOT NULL)",
        (
            "CREATE TABLE artifacts (artifact_id TEXT PRIMARY KEY, client_id TEXT NOT NULL, mime_type TEXT NOT NULL,"
            " size INTEGER NOT NULL, made_at REAL NOT NULL)"
        ),
    ),
    "m003_sessions": (
        "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, sealed BLOB NOT NULL)",
        (
            "CREATE TABLE saved_states (session_id TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL,"
            " PRIMARY KEY (session_id, name))"
        ),
    ),
    "m_earlier_states": (
        (
            "CREATE TABLE earlier_states (session_id TEXT NOT NULL, kept_at REAL NOT NULL, readable INTEGER NOT NULL,"
            " sealed BLOB NOT NULL)"
        ),
        "ALTER TABLE pages ADD COLUMN kept_at REAL NOT NULL DEFAULT 0",
    ),
    "m_closed_pages": ("CREATE TABLE closed_pages (page_id TEXT PRIMARY KEY, record TEXT NOT NULL)",),
    "m_artifact_paths": ("ALTER TABLE artifacts ADD COLUMN path TEXT NOT NULL DEFAULT ''",),
    "m_activity": (
        (
            "CREATE TABLE activity (id INTEGER PRIMARY KEY, at REAL NOT NULL, client_id TEXT NOT NULL,"
            " label TEXT NOT NULL, private_to TEXT, page_id TEXT, session_id TEXT, action TEXT NOT NULL,"
            " outcome TEXT NOT NULL, ms INTEGER NOT NULL, call_id TEXT NOT NULL, detail TEXT NOT NULL)"
        ),
    ),
    "m_downloads": ("CREATE TABLE downloads (download_id TEXT PRIMARY KEY, at REAL NOT NULL, state TEXT NOT NULL)",),
    "m_revoked": (
        "CREATE TABLE revoked (kind TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, UNIQUE (kind, value))",
    ),
    "m_tokens": ("CREATE TABLE tokens (name TEXT PRIMARY KEY COLLATE NOCASE, record TEXT NOT NULL)",),
    "m_thumbnails": (
        (
            "CREATE TABLE thumbnails (client_id TEXT NOT NULL, call_id TEXT NOT NULL, at REAL NOT NULL,"
            " facts TEXT NOT NULL, data BLOB, PRIMARY KEY (client_id, call_id))"
        ),
        "CREATE INDEX thumbnails_at ON thumbnails (at)",
    ),
    "m_saved_by": ("ALTER TABLE saved_states ADD COLUMN client_id TEXT NOT NULL DEFAULT ''",),
    "m_fronts": ("CREATE TABLE fronts (start INTEGER PRIMARY KEY, at REAL NOT NULL)",),
    "m_placements": (
        (
            "CREATE TABLE placements (session_id TEXT PRIMARY KEY, host_id TEXT NOT NULL, incarnation TEXT NOT NULL,"
            " lease_ms INTEGER NOT NULL)"
        ),
    ),
    "m_asked": (
        (
            "CREATE TABLE asked (request_id TEXT PRIMARY KEY, at REAL NOT NULL, client_id TEXT NOT NULL,"
            " facts TEXT NOT NULL)"
        ),
    ),
    "m_colours": ("CREATE TABLE colours (client_id TEXT PRIMARY KEY, label TEXT NOT NULL, colour TEXT NOT NULL)",),
    "m_halts": ("CREATE TABLE halts (client_id TEXT PRIMARY KEY, by TEXT NOT NULL, at REAL NOT NULL)",),
    "m_pauses": (
        "ALTER TABLE halts ADD COLUMN how TEXT NOT NULL DEFAULT 'stop'",
        "UPDATE halts SET how = '' WHERE at = 0",
    ),
    "m_threads": ("CREATE TABLE threads (client_id TEXT PRIMARY KEY, at REAL NOT NULL, sealed BLOB NOT NULL)",),
    "m_subscribed": (
        (
            "CREATE TABLE subscribed (endpoint TEXT PRIMARY KEY, p256dh TEXT NOT NULL, auth TEXT NOT NULL,"
            " viewer_id TEXT NOT NULL, key TEXT NOT NULL, at REAL NOT NULL)"
        ),
    ),
    "m_no_subscribed": ("DROP TABLE subscribed",),
    "m_kept_logins": (
        (
            "CREATE TABLE kept_logins (name TEXT PRIMARY KEY, client_id TEXT NOT NULL, at REAL NOT NULL,"
            " sealed BLOB NOT NULL)"
        ),
    ),
    "m_names": (
        (
            "CREATE TABLE names (client_id TEXT PRIMARY KEY, label TEXT NOT NULL, name TEXT NOT NULL,"
            " given INTEGER NOT NULL, at REAL NOT NULL)"
        ),
    ),
    "m_told_logins": (
        (
            "CREATE TABLE told_logins (session_id TEXT NOT NULL, site TEXT NOT NULL, state TEXT NOT NULL,"
            " at REAL NOT NULL, PRIMARY KEY (session_id, site, state))"
        ),
    ),
}


COMPANIONS = ("-wal", "-shm")
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MIGRATIONS_TABLE = "migrations"
_UNCHECKED_TABLE = "thumbnails"


class NewerJournal(Exception):
    """A newer version of the service wrote the file."""


class Damage(NamedTuple):
    """What happened to a damaged file."""

    aside: Path
    reason: str
    rows: int

    def __str__(self) -> str:
        copied = f"{self.rows} rows of it could be read and are kept" if self.rows else "nothing of it could be read"
        return f"The journal was damaged ({self.reason}); it lies aside as {self.aside.name}, and {copied}."


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file's content is wrong, as opposed to a file that merely cannot be reached or written now."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in _DAMAGED or code == sqlite3.SQLITE_IOERR_SHORT_READ


def connect(path: Path) -> tuple[sqlite3.Connection, Damage | None]:
    """Open the file, create it if it is missing, and migrate it. Raises NewerJournal, sqlite3.Error."""
    path.touch(mode=0o600)
    try:
        return _open_sound(path), None
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return replace(path, error)


def check_version(path: Path) -> None:
    """Raise NewerJournal before anything starts. Other trouble with the file shows when it is opened."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db,
    ):
        _refuse_newer(db)


def replace(path: Path, reason: sqlite3.Error) -> tuple[sqlite3.Connection, Damage]:
    """Replace a damaged file by a new one, with the rows that can still be read. The damaged file must be closed."""
    aside = set_aside(path, COMPANIONS)
    path.touch(mode=0o600)
    db = _open_sound(path)
    return db, Damage(aside, str(reason), _salvage(aside, db))


def check(db: sqlite3.Connection, *, whole: bool) -> None:
    """Raise sqlite3.DatabaseError if the file is not sound. 20 MB take 0.1 s. Unless `whole`, this leaves out the
    pictures, which are most of the file, and the list of free pages, which only a crash harms."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    parts = [""] if whole else [f"({each})" for each in tables if each != _UNCHECKED_TABLE]
    for part in parts:
        result = db.execute(f"PRAGMA quick_check{part}").fetchone()[0]
        if result == "ok":
            continue
        error = sqlite3.DatabaseError(" ".join(str(result).split()))
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def damage_of(path: Path) -> str:
    """Return what is wrong with the file's content; empty if it is sound or cannot be examined now."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            check(db, whole=True)
    except sqlite3.Error as error:
        return str(error) if is_damage(error) else ""
    return ""


def _unknown(db: sqlite3.Connection) -> list[str]:
    """Return the file's migrations that this version does not know."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_MIGRATIONS_TABLE,)).fetchone():
        return []
    return sorted({str(row[0]) for row in db.execute("SELECT name FROM migrations")} - MIGRATIONS.keys())


def _open_sound(path: Path) -> sqlite3.Connection:
    was_killed = path.with_name(f"{path.name}-wal").exists()  # a clean end removes it
    db = sqlite3.connect(path, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        check(db, whole=was_killed)
        _migrate(db)
    except (sqlite3.Error, NewerJournal):
        db.close()
        raise
    return db


def _refuse_newer(db: sqlite3.Connection) -> None:
    if newer := _unknown(db):
        raise NewerJournal(
            "The journal was written by a newer version of browse-together, which this one would damage "
            f"(unknown here: {', '.join(newer)}). Install that version again, or choose another data directory: "
            "--data-dir or BROWSE_DATA_DIR."
        )


def _migrate(db: sqlite3.Connection) -> None:
    _refuse_newer(db)
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
    applied = {row[0] for row in db.execute("SELECT name FROM migrations")}
    for name, statements in MIGRATIONS.items():
        if name not in applied:
            with db:
                db.execute("BEGIN IMMEDIATE")  # else a change of a table would stay without its name, if we are killed
                for statement in statements:
                    db.execute(statement)
                db.execute("INSERT INTO migrations VALUES (?)", (name,))


def _salvage(aside: Path, db: sqlite3.Connection) -> int:
    """Copy rows until the damage, and return how many were copied."""
    copied = 0
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(aside)) as old:
        tables = [str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table != _MIGRATIONS_TABLE:
                copied += _copy_rows(table, old, db)
    return copied


def _copy_rows(table: str, old: sqlite3.Connection, db: sqlite3.Connection) -> int:
    copied = 0
    with contextlib.suppress(sqlite3.Error), db:
        rows = old.execute(f"SELECT * FROM {table}")  # noqa: S608 - a table of ours
        names = ",".join(column[0] for column in rows.description)
        for row in rows:
            marks = ",".join("?" * len(row))
            with contextlib.suppress(sqlite3.Error):
                db.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - ours
                copied += 1
    return copied
