"""The files of a caller, kept as artifacts, because a host has no disk of its own."""

import json
from typing import Final

from pydantic import JsonValue

from browse_together.contract.calls import Artifact, Call
from browse_together.contract.local_times import STAMP, local_time
from browse_together.contract.model import Json
from browse_together.contract.wire import INLINE_BYTES, MAX_MESSAGE_BYTES
from browser_service.host.events import well_formed
from browser_service.host.seam import ArtifactPort

_HEAD: Final = 1_000


def dated(what: str, of: str) -> str:
    """Name a file that has no name yet by what it is, its page or session, and the time."""
    return f"{what}-{of}-{local_time(form=STAMP)}"


class Files:
    """The files of one call's client. `of` names the page or session in the names of files; `share` is the number of
    actions whose files one reply reports."""

    def __init__(self, artifacts: ArtifactPort, call: Call, of: str = "", share: int = 1) -> None:
        self._artifacts, self._of, self._share = artifacts, of, share
        self.client_id, self._reader = call.client_id, None if call.by_person else call.client_id
        self.inline_text = call.inline_text
        """How many characters of text the client wants in a reply."""

    @property
    def room(self) -> int:
        """Return how many characters of text the reply may have, if the caller asked for no other number."""
        return (self.inline_text or MAX_MESSAGE_BYTES // 2) // self._share

    @property
    def is_for_model(self) -> bool:
        """True if the reader of the reply pays for its length, and so should get only what was asked for."""
        return self.inline_text is not None

    async def shown(self, key: str, text: str, budget: int | None, start: int = 0, *, searched: bool = True) -> Json:
        """Return `text` under `key`, without secrets if it is `searched`. If it is longer than the caller wants, return
        its part from `start` on, and a cursor to read on."""
        limit = min(budget or self.room, MAX_MESSAGE_BYTES // 2 // self._share)
        if searched:
            text = await self.conceal(text)
        if len(text) <= limit:
            return {key: text}
        end, data = start + limit, text.encode()
        whole = await self._artifacts.put(
            data, "text/plain; charset=utf-8", self.client_id, inline=False, searched=searched
        )
        more: Json = {"cursor": f"{whole.artifact_id}:{end}"} if end < len(text) else {}
        return {key: text[start:end], **more, "length": len(text)}

    async def conceal(self, text: str) -> str:
        """Return a text as it may be sent and kept: Unicode, and without secrets."""
        return await self._artifacts.conceal(well_formed(text))

    async def shown_data(self, key: str, value: JsonValue, budget: int | None) -> Json:
        """Return data as it is if it fits, else as JSON text, which is cut like any other text."""
        if isinstance(value, str):
            return await self.shown(key, value, budget)
        cut = await self.shown(key, json.dumps(value, ensure_ascii=False), budget)
        return cut if "cursor" in cut else {key: value}

    async def keep(
        self,
        data: bytes,
        mime_type: str,
        what: str,
        name: str | None = None,
        *,
        inline: bool = True,
        searched: bool = True,
    ) -> Json:
        """Save bytes as a file with this name, or one made from `what`. Returns its description for a reply."""
        fits = self._share == 1 or len(data) <= INLINE_BYTES // self._share
        name = name or dated(what, self._of)
        kept = await self._artifacts.put(
            data, mime_type, self.client_id, inline=inline and fits, name=name, searched=searched
        )
        return kept.model_dump(exclude_none=True)

    async def save_text(self, key: str, text: str, mime_type: str, what: str, name: str | None = None) -> Json:
        """Save `text` as a file, and return its head under `key` with a cursor to read on."""
        text = await self.conceal(text)
        artifact = await self.keep(text.encode(), mime_type, what, name, inline=False)
        head = text[: text.rfind("\n", 0, _HEAD) + 1 or _HEAD] if len(text) > _HEAD else text
        cursor: Json = {"cursor": f"{artifact['artifactId']}:{len(head)}"} if len(head) < len(text) else {}
        return {key: head, **cursor, "length": len(text), "artifact": artifact}

    async def data(self, artifact_id: str) -> tuple[bytes, str]:
        """Return the bytes and the MIME type of a file that an earlier reply named. Raises ArtifactNotFound, also for
        another client's file, which only the account's own person may read."""
        return await self._artifacts.data(artifact_id, self._reader)

    async def describe(self, artifact_id: str) -> Artifact:
        """Return the description of a file that an earlier reply named, without its bytes."""
        return await self._artifacts.describe(artifact_id, self._reader)

    async def text(self, artifact_id: str) -> str:
        """Return a kept text as a whole."""
        return await self._artifacts.text(artifact_id, self._reader)

    async def upload(self, name: str, most: int) -> bytes:
        """Read a file of the folders that the operator opened for uploads, of `most` bytes at most."""
        return await self._artifacts.upload(name, most)
