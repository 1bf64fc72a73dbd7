"""Keeps the files of a caller as artifacts, because a host has no disk of its own."""

import json
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from browser_service.host.events import well_formed
from shared.calls import Artifact
from shared.frames import ActPicture
from shared.model import Json
from shared.wire import INLINE_BYTES, MAX_MESSAGE_BYTES


class ArtifactPort(Protocol):
    """Takes the bytes that a host hands over, because a host has no disk of its own."""

    async def put(
        self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True, name: str = ""
    ) -> Artifact:
        """Keep bytes. With a name, people find the file in the output directory."""

    async def conceal(self, text: str) -> str:
        """Return a text without the secrets that the front keeps, as `put` writes it too."""

    async def take(self, path: Path, mime_type: str, client_id: str, *, name: str = "") -> Artifact:
        """Keep a file that the browser wrote, by moving it."""

    async def data(self, artifact_id: str, client_id: str | None) -> tuple[bytes, str]:
        """Return the bytes and the MIME type to the client that it belongs to; None is the account's own person."""

    async def describe(self, artifact_id: str, client_id: str | None) -> Artifact:
        """Return what it is, where it is kept and how large it is, without its bytes."""

    async def text(self, artifact_id: str, client_id: str | None) -> str: ...

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None:
        """Keep the small picture of what an act made of its page, for the record."""

    async def upload(self, name: str, most: int) -> bytes:
        """Read a file of the upload folders, of `most` bytes at most."""


def dated(what: str, of: str) -> str:
    """Name a file that has no name yet by what it is, its page or session, and the time."""
    return f"{what}-{of}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"


class Files:
    """Keeps one client's files. `share` is how many actions tell of their files in one reply; `inline_text` is how
    many characters of text the client wants in it."""

    def __init__(self, artifacts: ArtifactPort, client_id: str, share: int = 1, inline_text: int | None = None) -> None:
        self._artifacts = artifacts
        self._share = share
        self.inline_text = inline_text
        self._client_id = client_id

    @property
    def room(self) -> int:
        """Return how many characters of text the reply may have, if the caller asked for no other number."""
        return (self.inline_text or MAX_MESSAGE_BYTES // 2) // self._share

    @property
    def is_for_model(self) -> bool:
        """Say if who reads the reply pays for its length, and so should get what is asked for alone."""
        return self.inline_text is not None

    async def shown(self, key: str, text: str, budget: int | None, start: int = 0) -> Json:
        """`text` under `key`, or its head and a cursor to read on from where it is longer than the caller wants; with
        `start`, what is from there on."""
        limit = budget or self.room
        limit, text = min(limit, MAX_MESSAGE_BYTES // 2 // self._share), await self.conceal(text)
        if len(text) <= limit:
            return {key: text}
        end = start + limit
        whole = await self._artifacts.put(text.encode(), "text/plain; charset=utf-8", self._client_id, inline=False)
        more: Json = {"cursor": f"{whole.artifact_id}:{end}"} if end < len(text) else {}
        return {key: text[start:end], **more, "length": len(text)}

    async def conceal(self, text: str) -> str:
        """Return a text as it may be sent and kept: Unicode, and without secrets."""
        return await self._artifacts.conceal(well_formed(text))

    async def shown_data(self, key: str, value: JsonValue, budget: int | None) -> Json:
        """Show data as it is where it fits, else as JSON text, which is cut like any other text."""
        if isinstance(value, str):
            return await self.shown(key, value, budget)
        cut = await self.shown(key, json.dumps(value, ensure_ascii=False), budget)
        return cut if "cursor" in cut else {key: value}

    async def keep(self, data: bytes, mime_type: str, name: str, *, inline: bool = True) -> Json:
        """Hand bytes over; the reply names them."""
        fits = self._share == 1 or len(data) <= INLINE_BYTES // self._share
        kept = await self._artifacts.put(data, mime_type, self._client_id, inline=inline and fits, name=name)
        return kept.model_dump(exclude_none=True)

    async def data(self, artifact_id: str) -> bytes:
        """Raises ArtifactNotFound, also for another's."""
        return (await self._artifacts.data(artifact_id, self._client_id))[0]
