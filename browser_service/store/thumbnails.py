"""Stores the newest thumbnails: what each act made of its page, under the call of the act."""

import base64
import sqlite3
import time
from collections.abc import Iterable

from browse_together.contract.frames import ActPicture, ActPictures, ShownPicture
from browse_together.contract.timestamps import iso
from browser_service.store.activity import Row
from browser_service.store.journal import Journal

MOST_ROWS = 13_000
"""With at most 15 KB each, 200 MB. The journal's check at start-up leaves this table out."""

Key = tuple[str, str]
_ADD = "INSERT OR REPLACE INTO thumbnails (client_id, call_id, at, facts, data) VALUES (?, ?, ?, ?, ?)"
_EXCESS = "DELETE FROM thumbnails WHERE rowid <= (SELECT max(rowid) FROM thumbnails) - ?"
_ONE = "SELECT at, facts, data FROM thumbnails WHERE client_id = ? AND call_id = ?"


class ThumbnailTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def add(self, key: Key, picture: ActPicture) -> None:
        """Keep the picture of an act, and remove the oldest pictures beyond the limit."""
        data = base64.b64decode(picture.data) if picture.data is not None else None
        facts = picture.model_dump_json(exclude={"data"}, exclude_none=True)

        def write(db: sqlite3.Connection) -> None:
            db.execute(_ADD, (*key, time.time(), facts, data))
            db.execute(_EXCESS, (MOST_ROWS,))

        await self._journal.transact(write)

    async def of(self, rows: Iterable[Row]) -> dict[int, ActPictures]:
        """Return the pictures of recorded acts, by the ids of the records; acts without a picture are left out."""

        def read(db: sqlite3.Connection) -> dict[int, ActPictures]:
            found = {row.id: _pictures(db, (row.client_id, row.call_id)) for row in rows}
            return {row_id: pictures for row_id, pictures in found.items() if pictures is not None}

        return await self._journal.transact(read)


def _pictures(db: sqlite3.Connection, key: Key) -> ActPictures | None:
    found = _find(db, key)
    if found is None:
        return None
    after, facts = found
    client_id, _, call_id = (facts.before or "").rpartition("/")
    earlier = _find(db, (client_id, call_id)) if call_id else None
    before = earlier[0] if earlier is not None else None
    return ActPictures(before=before, after=after, unseen=None if after else facts.unseen, target=facts.target)


def _find(db: sqlite3.Connection, key: Key) -> tuple[ShownPicture | None, ActPicture] | None:
    """Return a picture with its facts; the picture is None where it might have shown a secret."""
    row = db.execute(_ONE, key).fetchone()
    if row is None:
        return None
    at, text, data = row
    facts = ActPicture.model_validate_json(text)
    if data is None:
        return None, facts
    encoded = base64.b64encode(data).decode()
    return ShownPicture(data=encoded, width=facts.width, height=facts.height, time=iso(at)), facts
