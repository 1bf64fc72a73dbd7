"""Bytes that actions made: files under an id, each belonging to the client whose call made it."""

import asyncio
import base64
import secrets
import shutil
import time
from pathlib import Path, PurePosixPath

from browser_service.store.journal import Journal
from browser_service.store.uploads import UploadRoots
from shared.calls import Artifact
from shared.errors import ArtifactNotFound, ValidationFailed
from shared.wire import FILES, INLINE_BYTES

_KEPT_S = 7 * 86_400


class Artifacts:
    def __init__(self, directory: Path, output: Path, journal: Journal, uploads: UploadRoots) -> None:
        self._directory = directory
        self._output = output
        self._journal = journal
        self._uploads = uploads

    async def put(self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True) -> Artifact:
        """Keep `data`; the reply carries it as base64 where `inline` and it is small enough."""
        artifact_id = f"art-{secrets.token_urlsafe(12)}"
        await asyncio.to_thread(self._write, artifact_id, data)
        await self._journal.keep_artifact(artifact_id, client_id, mime_type, len(data), time.time())
        return Artifact(
            artifact_id=artifact_id,
            mime_type=mime_type,
            size=len(data),
            url=f"{FILES}/{artifact_id}",
            data=base64.b64encode(data).decode() if inline and len(data) <= INLINE_BYTES else None,
        )

    async def path(self, artifact_id: str, client_id: str) -> tuple[Path, str]:
        """The file and its MIME type, for the client it belongs to."""
        found = await self._journal.artifact(artifact_id)
        path = self._directory / artifact_id
        if found is None or found[0] != client_id or not path.is_file():
            raise ArtifactNotFound(
                f"There is no artifact {artifact_id!r} of yours.", hint="Repeat the call that made it."
            )
        return path, found[1]

    async def text(self, artifact_id: str, client_id: str) -> str:
        path, _ = await self.path(artifact_id, client_id)
        return (await asyncio.to_thread(path.read_bytes)).decode()  # read_text would make CRLF one character

    async def data(self, artifact_id: str, client_id: str) -> tuple[bytes, str]:
        path, mime_type = await self.path(artifact_id, client_id)
        return await asyncio.to_thread(path.read_bytes), mime_type

    async def upload(self, name: str, most: int) -> bytes:
        return await asyncio.to_thread(self._uploads.read, name, most)

    async def export(self, artifact_id: str, client_id: str, name: str) -> str:
        """Copy it to a name in the output directory, which no name leads out of; the whole path."""
        path, _ = await self.path(artifact_id, client_id)
        return await asyncio.to_thread(self._copy, path, name)

    async def clean(self) -> None:
        """Remove what is older than a week."""
        for artifact_id in await self._journal.old_artifacts(time.time() - _KEPT_S):
            (self._directory / artifact_id).unlink(missing_ok=True)
            await self._journal.forget_artifact(artifact_id)

    def _copy(self, path: Path, name: str) -> str:
        output = self._output.resolve()
        given = PurePosixPath(name.replace("\\", "/"))
        target = (output / given).resolve()
        inside = not given.is_absolute() and ".." not in given.parts and output in target.parents
        if not inside or not name.isprintable() or ":" in name or target.is_dir():
            raise ValidationFailed(
                f"path {name!r} is not the name of a file in the output directory.",
                hint='Give a name, such as "shot.png": it is kept in BROWSE_OUTPUT_DIR.',
                details={"context": {"field": "path"}},
            )
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return str(target)

    def _write(self, artifact_id: str, data: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / artifact_id
        path.touch(mode=0o600)
        path.write_bytes(data)
