"""Stores which colour each owner was dealt."""

from collections.abc import Collection
from typing import Final, NamedTuple

from browser_service.store.journal import Journal, keep_newest

MOST_DEALT: Final = 1_000


class Dealt(NamedTuple):
    """An owner's colour, and the name that it was dealt under."""

    label: str
    colour: str


class ColourTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> dict[str, Dealt]:
        """Return what was dealt by client, the latest last."""
        rows = await self._journal.read("SELECT client_id, label, colour FROM colours ORDER BY rowid")
        return {str(client_id): Dealt(str(label), str(colour)) for client_id, label, colour in rows}

    async def keep(self, client_id: str, dealt: Dealt) -> None:
        await self._journal.transact(lambda db: keep_newest(db, "colours", MOST_DEALT, client_id, *dealt))

    async def forget(self, client_ids: Collection[str]) -> None:
        rows = [(each,) for each in client_ids]
        await self._journal.transact(lambda db: db.executemany("DELETE FROM colours WHERE client_id = ?", rows))
