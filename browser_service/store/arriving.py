"""Writes files down while they arrive, and counts what has not come whole yet."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.requests import Held

MB: Final = 1_000_000
_BUFFER_BYTES: Final = 1_000_000
_ALL: Final = ""


@dataclass(frozen=True)
class ArtifactLimits:
    """How many days artifacts are kept, and how many megabytes per client and in all. 0 means no limit."""

    days: int = 7
    client_mb: int = 1_000
    all_mb: int = 5_000

    def check(self, client_bytes: int, all_bytes: int, what: str) -> None:
        """Raise ResourceExhausted if a client, or all together, would have too much of `what`."""
        for whose, size, limit in (("a client's", client_bytes, self.client_mb), ("all", all_bytes, self.all_mb)):
            if limit and size > limit * MB:
                raise ResourceExhausted(
                    f"{size:,} bytes are too many: {whose} {what} together may have {limit} MB.",
                    hint="Ask for less: a part, a smaller picture, a shorter time.",
                )


@dataclass(frozen=True)
class Arriving:
    """The files that are arriving: what has come of them counts for whoever sends them, and for all together."""

    directory: Path
    limits: ArtifactLimits
    _coming: Held = field(default_factory=Held)

    @asynccontextmanager
    async def whole(self, chunks: AsyncIterator[bytes], client_id: str) -> AsyncIterator[Path]:
        """Yield a file that has arrived whole, which goes unless the body moves it. Raises ResourceExhausted, OSError,
        and whatever `chunks` raises."""
        size = 0
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix="coming-", dir=self.directory) as folder:
                path = Path(folder) / "file"
                with path.open("wb", buffering=_BUFFER_BYTES) as file:
                    async for chunk in chunks:
                        size += len(chunk)
                        of_client, of_all = (self._coming.count(who, len(chunk)) for who in (client_id, _ALL))
                        self.limits.check(of_client, of_all, "files that are still arriving")
                        await asyncio.to_thread(file.write, chunk)
                yield path
        finally:
            for who in (client_id, _ALL):
                self._coming.count(who, -size)
