"""Converts a caller's files to Playwright's form."""

import asyncio
import base64
import binascii
import mimetypes
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from playwright.async_api import FilePayload, Page

from browse_together.contract.actions.files import GivenFile
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.filenames import safe_name
from browse_together.contract.wire import FILE_BYTES
from browser_service.host.files import Files

_MESSAGE_BYTES: Final = 200_000
"""Larger uploads go to the browser as files: as bytes, 20 MB would keep Playwright busy for half a minute, and all
other clients waiting."""


async def payloads(kept_files: Files, files: list[GivenFile], most: int = FILE_BYTES) -> list[FilePayload]:
    """Read the files, together at most `most` bytes; some are named as kept files. Raises ValidationFailed for a file
    with no content or with two, and if they are too large together."""
    uploads: list[FilePayload] = []
    for number, file in enumerate(files):
        left = most - sum(len(each["buffer"]) for each in uploads)
        if file.artifact_id is not None and not file.called:
            kept = await kept_files.describe(file.artifact_id)
            name = kept.name or f"{kept.artifact_id}{mimetypes.guess_extension(kept.mime_type) or ''}"
            file = file.model_copy(update={"name": PurePath(name).name})  # noqa: PLW2901 - the same file, named
        data, mime_type = await _content(kept_files, file, f"files.{number}", left)
        if len(data) > left:
            raise _unfit(f"files.{number}", f"The files have more than {most:,} bytes together", "Give fewer at once.")
        name = PurePosixPath(file.called.replace("\\", "/")).name
        kind = file.mime_type or mime_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        uploads.append(FilePayload(name=name, mimeType=kind, buffer=data))
    return uploads


async def handed(page: Page, uploads: list[FilePayload], *, elsewhere: bool) -> Sequence[FilePayload] | Sequence[Path]:
    """Return the files in the browser's fastest form. A browser that may be `elsewhere`, on another machine, reads no
    files."""
    if elsewhere or sum(len(each["buffer"]) for each in uploads) <= _MESSAGE_BYTES:
        return uploads
    return await asyncio.to_thread(written, page, [(each["name"], each["buffer"]) for each in uploads])


def written(page: Page, files: list[tuple[str, bytes]]) -> list[Path]:
    """Write files for the browser to read. They are removed with their page."""
    folder = Path(tempfile.mkdtemp(prefix="given-"))
    remove = weakref.finalize(page, shutil.rmtree, folder, ignore_errors=True)
    page.once("close", lambda _: remove())
    paths = [folder / str(number) / (safe_name(name) or "file") for number, (name, _) in enumerate(files)]
    for path, (_, data) in zip(paths, files, strict=True):
        path.parent.mkdir()
        path.write_bytes(data)
    return paths


async def _content(kept_files: Files, file: GivenFile, field: str, most: int) -> tuple[bytes, str | None]:
    contents = [name for name in ("text", "data", "artifact_id") if getattr(file, name) is not None]
    name = file.called
    if len(contents) + (file.path is not None) > 1:
        raise _unfit(field, f"{name!r} has two contents", "Give one of text, data, artifactId, path.")
    if contents and PurePosixPath(name).name != name:
        raise _unfit(f"{field}.name", f"{name!r} is a path", "Give the name alone.")
    if file.text is not None:
        return file.text.encode(), None
    if file.artifact_id is not None:
        return await kept_files.data(file.artifact_id)
    if file.data is None:
        return await kept_files.upload(file.path or name, most), None
    try:
        return base64.b64decode(file.data, validate=True), None
    except binascii.Error as error:
        raise _unfit(f"{field}.data", f"{name!r} is no base64: {error}", "Or give its `text`.") from None


def _unfit(field: str, problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(f"{problem}.", hint=hint, details=field_details(field))
