"""The small tables of the journal: requests to people, colours, names, threads and halts of agents, hosts of sessions,
logins that acts took, logins whose end was told, named tokens."""

import contextlib
import sqlite3
import time
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple, cast

from pydantic import Field, ValidationError

from browse_together.contract.events import RequestOver
from browse_together.contract.limits import Limits
from browse_together.contract.model import Model
from browser_service.store.journal import Journal, keep_newest

_MOST_ASKED: Final = 1_000
MOST_DEALT: Final = 1_000
MOST_NAMED: Final = 1_000
MOST_THREADS: Final = 1_000
MOST_TOLD: Final = 5_000
_MOST_TOKENS: Final = 1_000
MOST_KEPT_OF_CLIENT: Final = 20
MOST_KEPT_BYTES: Final = 100_000_000
_MOST_KEPT: Final = 1_000
_OLDEST_KEPT: Final = (
    "DELETE FROM kept_logins WHERE name IN (SELECT name FROM (SELECT name, row_number() OVER latest AS place,"
    " sum(length(sealed)) OVER latest AS size FROM kept_logins WHERE client_id = ? OR ? = ''"
    " WINDOW latest AS (ORDER BY rowid DESC)) WHERE place > ? OR size > ?)"
)
"""Takes a client, or twice none for all; how many may stay, and how many bytes."""


class _Table:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal


class EndedRequestTable(_Table):
    async def keep(self, over: RequestOver) -> None:
        row = (over.request.request_id, time.time(), over.client_id, over.model_dump_json())
        await self._journal.transact(lambda db: keep_newest(db, "asked", _MOST_ASKED, *row))

    async def since(self, at: float, limit: int) -> list[tuple[float, RequestOver]]:
        """Return the requests that ended since a time, each with the time of its end, the latest first."""
        sql = "SELECT at, facts FROM asked WHERE at >= ? ORDER BY at DESC LIMIT ?"
        rows = await self._journal.read(sql, at, limit)
        return [(float(str(ended)), RequestOver.model_validate_json(str(facts))) for ended, facts in rows]


class KeptLoginsTable(_Table):
    async def keep(self, name: str, client_id: str, sealed: bytes, most_bytes: int) -> None:
        """Keep a client's logins, and forget its oldest and those of all beyond their limits."""

        def keep(db: sqlite3.Connection) -> None:
            db.execute("INSERT INTO kept_logins VALUES (?, ?, ?, ?)", (name, client_id, time.time(), sealed))
            db.execute(_OLDEST_KEPT, (client_id, client_id, MOST_KEPT_OF_CLIENT, most_bytes))
            db.execute(_OLDEST_KEPT, ("", "", _MOST_KEPT, MOST_KEPT_BYTES))

        await self._journal.transact(keep)

    async def find(self, name: str) -> tuple[str, bytes]:
        """Return the client whose act took what is kept under a name, and that, sealed; both empty if there is none."""
        rows = await self._journal.read("SELECT client_id, sealed FROM kept_logins WHERE name = ?", name)
        return next(((str(client), sealed) for client, sealed in rows if isinstance(sealed, bytes)), ("", b""))

    async def names(self, client_id: str) -> list[str]:
        """Return the names under which a client's are kept, the latest first."""
        sql = "SELECT name FROM kept_logins WHERE client_id = ? ORDER BY rowid DESC"
        return [str(row[0]) for row in await self._journal.read(sql, client_id)]

    async def forget(self, before: float) -> None:
        await self._journal.write("DELETE FROM kept_logins WHERE at < ?", before)


class ToldLogin(NamedTuple):
    """What a person was told of a login: that it ends soon, or that it is over."""

    session_id: str
    site: str
    state: Literal["ends", "over"]


class ToldLoginTable(_Table):
    async def all(self) -> dict[ToldLogin, float]:
        """Return when each was told (Unix time), the latest last."""
        rows = await self._journal.read("SELECT session_id, site, state, at FROM told_logins ORDER BY rowid")
        return {
            ToldLogin._make(cast("tuple[str, str, Literal['ends', 'over']]", key)): float(str(at)) for *key, at in rows
        }

    async def keep(self, told: ToldLogin, at: float) -> None:
        await self._journal.transact(lambda db: keep_newest(db, "told_logins", MOST_TOLD, *told, at))


class Dealt(NamedTuple):
    """An owner's colour, and the name that it was dealt under."""

    label: str
    colour: str


class ColourTable(_Table):
    async def all(self) -> dict[str, Dealt]:
        """Return what was dealt by client, the latest last."""
        rows = await self._journal.read("SELECT client_id, label, colour FROM colours ORDER BY rowid")
        return {str(client_id): Dealt(str(label), str(colour)) for client_id, label, colour in rows}

    async def keep(self, client_id: str, dealt: Dealt) -> None:
        await self._journal.transact(lambda db: keep_newest(db, "colours", MOST_DEALT, client_id, *dealt))

    async def forget(self, client_ids: Collection[str]) -> None:
        rows = [(each,) for each in client_ids]
        await self._journal.transact(lambda db: db.executemany("DELETE FROM colours WHERE client_id = ?", rows))


class ChatName(NamedTuple):
    """A chat's name: what it calls itself, what it is called, whether a person gave it that name, and when it last
    called, in Unix time."""

    label: str
    name: str
    given: bool
    at: float


class NameTable(_Table):
    async def all(self) -> dict[str, ChatName]:
        """Return the names by client, the latest last."""
        rows = await self._journal.read("SELECT client_id, label, name, given, at FROM names ORDER BY rowid")
        return {
            str(client_id): ChatName(str(label), str(name), bool(given), float(str(at)))
            for client_id, label, name, given, at in rows
        }

    async def keep(self, client_id: str, name: ChatName) -> None:
        await self._journal.transact(lambda db: keep_newest(db, "names", MOST_NAMED, client_id, *name))

    async def forget(self, client_ids: Collection[str]) -> None:
        rows = [(each,) for each in client_ids]
        await self._journal.transact(lambda db: db.executemany("DELETE FROM names WHERE client_id = ?", rows))


class KeptHalt(NamedTuple):
    """What holds a client, or all (without an id); without `how`, a client that was let go alone meanwhile."""

    client_id: str
    by: str = ""
    at: float = 0.0
    how: Literal["pause", "stop", ""] = ""


class HaltTable(_Table):
    async def all(self) -> list[KeptHalt]:
        rows = await self._journal.read("SELECT client_id, by, at, how FROM halts")
        return [KeptHalt._make(cast("tuple[str, str, float, Literal['pause', 'stop', '']]", row)) for row in rows]

    async def write(self, halts: Sequence[KeptHalt]) -> None:
        """Write all in place of the former ones."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM halts")
            db.executemany("INSERT INTO halts (client_id, by, at, how) VALUES (?, ?, ?, ?)", halts)

        await self._journal.transact(write)


class ThreadTable(_Table):
    async def all(self) -> list[tuple[str, bytes]]:
        """Return the threads by client, the latest last."""
        rows = await self._journal.read("SELECT client_id, sealed FROM threads ORDER BY rowid")
        return cast("list[tuple[str, bytes]]", rows)

    async def keep(self, threads: Sequence[tuple[str, float, bytes]]) -> None:
        """Keep the threads of clients, each with the time of its last line."""

        def keep(db: sqlite3.Connection) -> None:
            for row in threads:
                keep_newest(db, "threads", MOST_THREADS, *row)

        await self._journal.transact(keep)


class Placed(NamedTuple):
    """The host that has a session: its lasting id, and the incarnation to which the session was given."""

    host_id: str
    incarnation: str


class PlacementTable(_Table):
    def __init__(self, journal: Journal, lease_ms: int) -> None:
        """`lease_ms` is how long hosts may act without word from this service."""
        super().__init__(journal)
        self._lease_ms = lease_ms

    async def all(self) -> tuple[dict[str, Placed], int]:
        """Return the hosts by session, and for how many milliseconds these may have what they were given."""
        rows = await self._journal.read("SELECT session_id, host_id, incarnation, lease_ms FROM placements")
        placed = {
            str(session_id): Placed(str(host_id), str(incarnation)) for session_id, host_id, incarnation, _ in rows
        }
        return placed, max((int(str(row[3])) for row in rows), default=0)

    async def keep(self, session_id: str, placed: Placed) -> None:
        await self._journal.write(
            "INSERT OR REPLACE INTO placements VALUES (?, ?, ?, ?)", session_id, *placed, self._lease_ms
        )

    async def forget(self, session_id: str) -> None:
        await self._journal.write("DELETE FROM placements WHERE session_id = ?", session_id)


class TokenRecord(Model):
    """A named token: its name, the id it is revoked by, what it allows, and when it was last used.

    One of hosts has a pool, and no limits; nor has one of the extension."""

    name: str
    token_id: str
    limits: Limits
    pool: str = ""
    extension: bool = False
    made_at: float = Field(description="Unix time.")
    expires_at: float
    used_at: float | None = None


class TokenTable(_Table):
    async def all(self) -> list[TokenRecord]:
        """Return the records, the oldest first. Unreadable ones are skipped."""
        records = []
        for (text,) in await self._journal.read("SELECT record FROM tokens ORDER BY rowid"):
            with contextlib.suppress(ValidationError):
                records.append(TokenRecord.model_validate_json(str(text)))
        return records

    async def keep(self, record: TokenRecord) -> None:
        row = (record.name, record.model_dump_json())
        await self._journal.transact(lambda db: keep_newest(db, "tokens", _MOST_TOKENS, *row))
