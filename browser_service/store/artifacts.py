"""Bytes that actions made: files under an id, each belonging to the client whose call made it."""

import asyncio
import base64
import contextlib
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from browser_service.pictures import preview
from browser_service.store.journal import Journal
from browser_service.store.uploads import UploadRoots
from shared.calls import Artifact
from shared.errors import ArtifactNotFound, ResourceExhausted, ValidationFailed
from shared.wire import FILES, INLINE_BYTES

_MB = 1_000_000


@dataclass(frozen=True)
class Room:
    """How long artifacts are kept, and how many megabytes of them: of one client, and of all. 0 is no limit."""

    days: int = 7
    client_mb: int = 1_000
    all_mb: int = 5_000


class Artifacts:
    def __init__(self, directory: Path, output: Path, journal: Journal, uploads: UploadRoots, room: Room) -> None:
        self._directory = directory
        self._output = output
        self._journal = journal
        self._uploads = uploads
        self._room = room

    async def put(self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True) -> Artifact:
        """Keep `data`, and let the oldest go where there is no room. The reply carries it as base64 where `inline` and
        it is small enough, or a preview of a picture that is not. Raises ResourceExhausted for what never fits."""
        self._check_fits(len(data))
        artifact_id = await self._keep(lambda name: self._write(name, data), len(data), mime_type, client_id)
        reduced = await asyncio.to_thread(preview, data, mime_type) if inline else None
        whole = inline and reduced is None and len(data) <= INLINE_BYTES
        return Artifact(
            artifact_id=artifact_id,
            mime_type=mime_type,
            size=len(data),
            url=f"{FILES}/{artifact_id}",
            data=base64.b64encode(data).decode() if whole else None,
            preview=reduced,
        )

    async def take(self, path: Path, mime_type: str, client_id: str) -> Artifact:
        """The same for a file that is there already: it is moved."""
        size = (await asyncio.to_thread(path.stat)).st_size
        self._check_fits(size)
        artifact_id = await self._keep(lambda name: self._move(path, name), size, mime_type, client_id)
        return Artifact(artifact_id=artifact_id, mime_type=mime_type, size=size, url=f"{FILES}/{artifact_id}")

    async def _keep(self, write: Callable[[str], None], size: int, mime_type: str, client_id: str) -> str:
        """Its id. What can be written in part alone is not kept. Raises ResourceExhausted."""
        artifact_id = f"art-{secrets.token_urlsafe(12)}"
        try:
            await asyncio.to_thread(write, artifact_id)
            await self._journal.keep_artifact(artifact_id, client_id, mime_type, size, time.time())
        except OSError as error:
            self._unlink(artifact_id)
            raise ResourceExhausted(
                f"The file of this call ({size} bytes) could not be kept: {error.strerror or error}.",
                hint=f"A person must free space in {self._directory}, or make it writable; then repeat the call.",
            ) from error
        except BaseException:
            self._unlink(artifact_id)
            raise
        await self._make_room(client_id)
        return artifact_id

    def _unlink(self, artifact_id: str) -> None:
        with contextlib.suppress(OSError):
            (self._directory / artifact_id).unlink(missing_ok=True)

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
        return (await self.data(artifact_id, client_id))[0].decode()  # read_text would make CRLF one character

    async def data(self, artifact_id: str, client_id: str) -> tuple[bytes, str]:
        path, mime_type = await self.path(artifact_id, client_id)
        return await asyncio.to_thread(path.read_bytes), mime_type

    async def upload(self, name: str, most: int) -> bytes:
        return await asyncio.to_thread(self._uploads.read, name, most)

    async def export(self, artifact_id: str, client_id: str, name: str) -> str:
        """Copy it to a name in the output directory, which no name leads out of; the whole path."""
        path, _ = await self.path(artifact_id, client_id)
        try:
            return await asyncio.to_thread(self._copy, path, name)
        except OSError as error:
            raise ResourceExhausted(
                f"{name!r} could not be written in {self._output}: {error.strerror or error}.",
                hint=f"The file itself is kept: {artifact_id}. A person must free space there, or make it writable.",
            ) from error

    async def clean(self) -> None:
        """Remove what is too old."""
        await self._remove(await self._journal.old_artifacts(time.time() - self._room.days * 86_400))

    def _check_fits(self, size: int) -> None:
        limits = {"BROWSE_CLIENT_ARTIFACTS_MB": self._room.client_mb, "BROWSE_ARTIFACTS_MB": self._room.all_mb}
        for setting, limit in limits.items():
            if limit and size > limit * _MB:
                raise ResourceExhausted(
                    f"The file has {size} bytes, and all files together may have {limit} MB ({setting}).",
                    hint="Ask for less: a part, a smaller picture, a shorter time.",
                )

    async def _make_room(self, client_id: str) -> None:
        if self._room.client_mb:
            await self._remove(await self._journal.excess_artifacts(self._room.client_mb * _MB, client_id))
        if self._room.all_mb:
            await self._remove(await self._journal.excess_artifacts(self._room.all_mb * _MB))

    async def _remove(self, artifact_ids: list[str]) -> None:
        for artifact_id in artifact_ids:
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

    def _move(self, path: Path, artifact_id: str) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o600)
        shutil.move(path, self._directory / artifact_id)

    def _write(self, artifact_id: str, data: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / artifact_id
        path.touch(mode=0o600)
        path.write_bytes(data)
