"""Files that actions made. Each has an id and belongs to the client whose call made it."""

import asyncio
import base64
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import NamedTuple, cast

from browse_together.contract.calls import Artifact
from browse_together.contract.errors import ArtifactNotFound, ResourceExhausted, ValidationFailed, field_details
from browse_together.contract.filenames import safe_name, split_suffix, with_suffix
from browse_together.contract.frames import ActPicture
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import FILES, INLINE_BYTES
from browser_service.pictures import preview
from browser_service.security.concealed_files import concealed
from browser_service.security.concealment import Concealment
from browser_service.security.named_secrets import NamedSecrets
from browser_service.store.arriving import MB, Arriving, ArtifactLimits
from browser_service.store.journal import Journal
from browser_service.store.thumbnails import ThumbnailTable
from browser_service.store.uploads import UploadRoots

_READ_BYTES = 20_000_000
"""Limit for a text that is read in pieces, because every piece reads the whole file."""
_DATA_BYTES = 200_000_000
_MOST_NUMBERED = 20
_OWN_WRITE_S = 2.0


class ArtifactRecord(NamedTuple):
    """An artifact's file. `path` is set only if it lies in the output directory, under a name that people see."""

    artifact_id: str
    client_id: str
    mime_type: str
    size: int
    made_at: float
    path: str = ""


_COLUMNS = ", ".join(ArtifactRecord._fields)
_EXCESS = (
    "artifact_id IN (SELECT artifact_id FROM (SELECT artifact_id,"
    " SUM(size) OVER (ORDER BY made_at DESC, rowid DESC) AS so_far"
    " FROM artifacts WHERE client_id = ?1 OR ?1 IS NULL) WHERE so_far > ?2)"
)
"""Condition for the oldest artifacts to remove, of one client or of all, so that the rest fits a number of bytes."""


class Folders(NamedTuple):
    """Where files lie: `kept` for those that only replies mention, `output` for those that people find by name."""

    kept: Path
    output: Path


class Artifacts:
    def __init__(
        self,
        folders: Folders,
        journal: Journal,
        uploads: UploadRoots,
        limits: ArtifactLimits,
        secrets: NamedSecrets,
    ) -> None:
        self._directory, self._output = folders
        self.journal = journal
        self._thumbnails = ThumbnailTable(journal)
        self._uploads = uploads
        self._limits, self._arriving = limits, Arriving(self._directory, limits)
        self._secrets = secrets
        self.made = self.made_bytes = 0
        """Files made since the start, and their bytes."""

    async def put(
        self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True, name: str = "", searched: bool = True
    ) -> Artifact:
        """Keep `data`, without secrets if it is `searched`, and remove the oldest files to make room. A file with a
        name goes into the output directory, where people find it. With `inline`, the result carries small data as
        base64, or a preview of a larger picture. Raises ResourceExhausted for data that can never fit, or takes too
        long to be searched."""
        hides = self._secrets.concealment
        if searched:
            data = await concealed(data, mime_type, hides)
        self._limits.check(len(data), len(data), "files")
        artifact = await self._keep(lambda path: path.write_bytes(data), len(data), mime_type, client_id, name)
        if not inline:
            return artifact
        if (reduced := await preview(data, mime_type, artifact.artifact_id)) is not None:
            return artifact.model_copy(update={"preview": reduced})
        is_safe = searched or not hides.hides_any or mime_type.startswith("image/")
        fits = is_safe and len(data) <= INLINE_BYTES
        return artifact.model_copy(update={"data": base64.b64encode(data).decode() if fits else None})

    async def conceal(self, text: str) -> str:
        """Return the text without secrets, as replies may show it."""
        return await self._secrets.apart(Concealment.in_time, text)

    async def take(self, path: Path, mime_type: str, client_id: str, *, name: str = "") -> Artifact:
        """Keep a site's file, which the browser wrote, as it is, by moving it. Raises ResourceExhausted for one that
        can never fit."""
        return await self._move(path, mime_type, client_id, name)

    async def _move(self, path: Path, mime_type: str, client_id: str, name: str = "") -> Artifact:
        size = (await asyncio.to_thread(path.stat)).st_size
        self._limits.check(size, size, "files")
        await asyncio.to_thread(path.chmod, 0o600)
        return await self._keep(lambda target: shutil.move(path, target), size, mime_type, client_id, name)

    async def receive(self, chunks: AsyncIterator[bytes], mime_type: str, client_id: str) -> Artifact:
        """Keep a file while it arrives, without holding all of it in memory. Raises ResourceExhausted, and whatever
        `chunks` raises."""
        async with self.arrived(chunks, client_id) as path:
            return await self._move(path, mime_type, client_id)

    @asynccontextmanager
    async def arrived(self, chunks: AsyncIterator[bytes], client_id: str) -> AsyncIterator[Path]:
        """Yield a client's file that has arrived whole, which goes unless the body moves it. Raises as `receive`
        does."""
        try:
            async with self._arriving.whole(chunks, client_id) as path:
                yield path
        except OSError as error:
            raise _not_stored(self._directory, error) from error

    async def _keep(
        self, write: Callable[[Path], object], size: int, mime_type: str, client_id: str, name: str
    ) -> Artifact:
        """Write a file and record it, or leave nothing behind. Raises ResourceExhausted."""
        artifact_id, name = f"art-{token_urlsafe(12)}", self._secrets.concealment.text(name)
        directory, path = self._output if name else self._directory, None
        try:
            path = await asyncio.to_thread(self._claim, artifact_id, name and with_suffix(name, mime_type))
            await asyncio.to_thread(write, path)
            record = ArtifactRecord(artifact_id, client_id, mime_type, size, time.time(), str(path) if name else "")
            await self.journal.write(f"INSERT INTO artifacts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", *record)  # noqa: S608 - ours
        except BaseException as error:
            _unlink(path)
            if isinstance(error, OSError):
                raise _not_stored(directory, error, f" ({size} bytes)") from error
            raise
        self.made, self.made_bytes = self.made + 1, self.made_bytes + size
        await self._remove_excess(client_id)
        return self._describe(record)

    async def describe(self, artifact_id: str, client_id: str | None) -> Artifact:
        """Describe a file that was kept. Raises ArtifactNotFound."""
        return self._describe(await self._find(artifact_id, client_id))

    def _describe(self, record: ArtifactRecord) -> Artifact:
        path, output = Path(record.path), self._output.resolve()
        name = path.relative_to(output) if path.is_relative_to(output) else path.name
        return Artifact(
            artifact_id=record.artifact_id,
            mime_type=record.mime_type,
            size=record.size,
            url=f"{FILES}/{record.artifact_id}",
            name=str(name) if record.path else None,
            path=record.path or None,
        )

    async def path(self, artifact_id: str, client_id: str | None) -> tuple[Path, str]:
        """Return the file and its MIME type if it belongs to the client; None means the account's owner, who may read
        all. Raises ArtifactNotFound."""
        record = await self._find(artifact_id, client_id)
        return self._path(record), record.mime_type

    async def _find(self, artifact_id: str, client_id: str | None) -> ArtifactRecord:
        record = next(iter(await self._records("artifact_id = ?", artifact_id)), None)
        if record is None or client_id not in {None, record.client_id} or not self._path(record).is_file():
            raise ArtifactNotFound(
                f"There is no artifact {artifact_id!r} of yours.", hint="Repeat the call that made it."
            )
        return record

    async def text(self, artifact_id: str, client_id: str | None) -> str:
        """Return a file's text. Raises ArtifactNotFound, and ValidationFailed if it is too long or not text."""
        data, mime_type = await self.data(artifact_id, client_id, _READ_BYTES)
        try:
            return data.decode()  # read_text would make CRLF one character
        except UnicodeDecodeError:
            if not mime_type.startswith("text/"):
                raise _unreadable(f"{artifact_id} is no text, but {mime_type}.") from None
            return data.decode("utf-8", "replace")

    async def data(self, artifact_id: str, client_id: str | None, most: int = _DATA_BYTES) -> tuple[bytes, str]:
        """Return a file's bytes and its MIME type. Raises ArtifactNotFound, and ValidationFailed if it is too long."""
        path, mime_type = await self.path(artifact_id, client_id)
        if (await asyncio.to_thread(path.stat)).st_size > most:
            raise _unreadable(f"{artifact_id} has more than {most:,} bytes, too many to be worked with.")
        return await asyncio.to_thread(path.read_bytes), mime_type

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None:
        """Keep the thumbnail of a page that an act left behind, for the record."""
        await self._thumbnails.add((client_id, call_id), picture)

    async def upload(self, name: str, max_bytes: int) -> bytes:
        return await asyncio.to_thread(self._uploads.read, name, max_bytes)

    async def may_upload(self, name: str) -> bool:
        return await asyncio.to_thread(self._uploads.has, name)

    async def clean(self) -> None:
        """Remove files that are older than the limits allow."""
        await self._remove(await self._records("made_at < ?", time.time() - self._limits.days * 86_400))

    async def discard(self, artifact_id: str, client_id: str) -> None:
        """Remove a client's file that was needed only for a moment."""
        await self._remove(await self._records("artifact_id = ? AND client_id = ?", artifact_id, client_id))

    async def _remove_excess(self, client_id: str) -> None:
        """Remove the oldest artifacts of the client, then of all clients, until the rest is within the limits."""
        for owner, limit_mb in ((client_id, self._limits.client_mb), (None, self._limits.all_mb)):
            if limit_mb:
                await self._remove(await self._records(_EXCESS, owner, limit_mb * MB))

    async def _remove(self, old: list[ArtifactRecord]) -> None:
        for record in old:
            if not record.path or not _is_changed(Path(record.path), record):
                _unlink(self._path(record))
            await self.journal.write("DELETE FROM artifacts WHERE artifact_id = ?", record.artifact_id)

    async def _records(self, condition: str, *values: object) -> list[ArtifactRecord]:
        rows = await self.journal.read(f"SELECT {_COLUMNS} FROM artifacts WHERE {condition}", *values)  # noqa: S608 - ours
        # the table's columns
        return [ArtifactRecord(*cast("tuple[str, str, str, int, float, str]", row)) for row in rows]

    def _path(self, record: ArtifactRecord) -> Path:
        return Path(record.path) if record.path else self._directory / record.artifact_id

    def _claim(self, artifact_id: str, name: str) -> Path:
        """Create an empty file that only the account may read, never replacing a file or following a link. Without a
        name it lies in the private directory. Raises ValidationFailed if the path leads out of the output directory or
        names a folder."""
        root = self._output if name else self._directory
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not name:
            return _new(root / artifact_id)
        *folders, last = [safe_name(part) for part in name.split("/")]
        folder = root = root.resolve()
        for folder_name in filter(None, folders):
            folder /= folder_name
            folder.mkdir(mode=0o700, exist_ok=True)
        if folder.resolve() != folder or (folder / last).is_dir():
            raise ValidationFailed(
                f"{name!r} is not the name of a file in the output directory.",
                hint='Give a name, such as "shot.png": it is kept in BROWSE_OUTPUT_DIR.',
                details=field_details("path"),
            )
        stem, suffix = split_suffix(last or "file")
        numbers = ["", *(f"-{number}" for number in range(2, _MOST_NUMBERED)), f"-{token_hex(4)}"]
        for number in numbers:
            with contextlib.suppress(FileExistsError):
                return _new(folder / f"{stem}{number}{suffix}")
        raise FileExistsError(f"{name!r} is taken")


def _new(path: Path) -> Path:
    path.touch(mode=0o600, exist_ok=False)
    return path


def _unlink(path: Path | None) -> None:
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _is_changed(path: Path, record: ArtifactRecord) -> bool:
    """Return whether somebody has changed the file since, which makes it theirs."""
    try:
        stat = path.lstat()
    except OSError:
        return False
    return stat.st_size != record.size or stat.st_mtime > record.made_at + _OWN_WRITE_S


def _not_stored(directory: Path, error: OSError, size: str = "") -> ResourceExhausted:
    return ResourceExhausted(
        f"The file of this call{size} could not be kept: {error.strerror or error}.",
        hint=f"A person must free space in {directory}, or make it writable; then repeat the call.",
    )


def _unreadable(problem: str) -> ValidationFailed:
    hint = f"A person opens it: {next_call('list_downloads')} and the reply that made it say where it is."
    return ValidationFailed(problem, hint=hint, details=field_details("cursor"))
