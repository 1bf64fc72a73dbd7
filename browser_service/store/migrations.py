"""The steps that create the journal's tables. Each runs once per file, which records the step's name."""

from typing import Final

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
}
