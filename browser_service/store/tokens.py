"""Stores records of the named tokens, never the tokens themselves."""

import contextlib
from typing import Final

from pydantic import Field, ValidationError

from browser_service.store.journal import Journal, keep_newest
from shared.limits import Limits
from shared.model import Model

_MOST: Final = 1_000


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


class TokenTable:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> list[TokenRecord]:
        """Return the records, the oldest first. Unreadable ones are skipped."""
        records = []
        for (text,) in await self._journal.read("SELECT record FROM tokens ORDER BY rowid"):
            with contextlib.suppress(ValidationError):
                records.append(TokenRecord.model_validate_json(str(text)))
        return records

    async def keep(self, record: TokenRecord) -> None:
        row = (record.name, record.model_dump_json())
        await self._journal.transact(lambda db: keep_newest(db, "tokens", _MOST, *row))
