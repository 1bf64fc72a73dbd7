"""Stores which host has which session, for the next start of the service."""

from typing import Final, NamedTuple

from browser_service.store.journal import Journal


class Placed(NamedTuple):
    """The host that has a session: its lasting id, and the incarnation to which the session was given."""

    host_id: str
    incarnation: str


_KEEP: Final = "INSERT OR REPLACE INTO placements VALUES (?, ?, ?, ?)"


class PlacementTable:
    def __init__(self, journal: Journal, lease_ms: int) -> None:
        """`lease_ms` is how long hosts may act without word from this service."""
        self._journal, self._lease_ms = journal, lease_ms

    async def all(self) -> tuple[dict[str, Placed], int]:
        """Return the hosts by session, and for how many milliseconds these may have what they were given."""
        rows = await self._journal.read("SELECT session_id, host_id, incarnation, lease_ms FROM placements")
        placed = {
            str(session_id): Placed(str(host_id), str(incarnation)) for session_id, host_id, incarnation, _ in rows
        }
        return placed, max((int(str(row[3])) for row in rows), default=0)

    async def keep(self, session_id: str, placed: Placed) -> None:
        await self._journal.write(_KEEP, session_id, *placed, self._lease_ms)

    async def forget(self, session_id: str) -> None:
        await self._journal.write("DELETE FROM placements WHERE session_id = ?", session_id)
