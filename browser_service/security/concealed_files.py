"""Hides secrets in files: in texts of each charset, and in what is packed in them. A PDF with one is refused."""

import asyncio
import gzip
import io
import mimetypes
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from browser_service.pdf_text import pdf_text
from browser_service.security.concealment import Concealment
from shared.errors import Forbidden, ResourceExhausted, ValidationFailed
from shared.named_secrets import MOST_CHARACTERS
from shared.next_calls import next_call

_MOST_DECODED: Final = 50_000_000
_PIECE: Final = 8_000_000
_OVERLAP: Final = 4 * MOST_CHARACTERS
_MOST_UNPACKED: Final = 500_000_000
_MOST_NESTED: Final = 3
_PICTURES: Final = ("image/", "video/", "audio/")
_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_UNPACKING: Final = ThreadPoolExecutor(1, "unpacking")
"""Unpacks one file at a time, because half a megabyte from a page may take 500 MB and some seconds."""


async def conceal_file(path: Path, mime_type: str, hides: Concealment) -> None:
    """Remove secrets from a file. Raises what `concealed` does, and ResourceExhausted for a file with the plain text of
    a secret that is too large to be decoded and changed."""
    if not hides.hides_any:
        return
    if (await asyncio.to_thread(path.stat)).st_size > _MOST_DECODED:
        with path.open("rb") as file:
            await asyncio.to_thread(_check_plain, file, hides)
        return
    data = await asyncio.to_thread(path.read_bytes)
    clean = await concealed(data, mime_type, hides)
    if clean is not data:
        await asyncio.to_thread(path.write_bytes, clean)


async def concealed(data: bytes, mime_type: str, hides: Concealment) -> bytes:
    """Return a file's bytes without secrets, and the same ones if it has none. Raises Forbidden for a PDF with one,
    which cannot be replaced there, and ResourceExhausted for a packed file that is too large to be searched."""
    if not hides.hides_any:
        return data
    if data.startswith(b"%PDF"):
        await _check_pdf(data, hides)
        return data
    search = partial(FileSearch(hides).without_secrets, data, mime_type)
    return await asyncio.get_running_loop().run_in_executor(_UNPACKING if _is_packed(data) else None, search)


def _is_packed(data: bytes) -> bool:
    return data.startswith(_GZIP) or zipfile.is_zipfile(io.BytesIO(data))


async def _check_pdf(data: bytes, hides: Concealment) -> None:
    try:
        text = await pdf_text(data, all_of_it=True)
    except ValidationFailed:
        return  # encrypted or broken, and so unreadable for an agent too
    if await asyncio.to_thread(hides.finds, [text, "".join(text.split())]):
        raise Forbidden(
            "The text of this PDF has a named secret in it, so that it was not kept.",
            hint=f"Read the page, where the name stands instead: {next_call('content')}.",
        )


def _check_plain(file: BinaryIO, hides: Concealment) -> None:
    """Raise ResourceExhausted if the plain text of a secret stands in a file."""
    end = b""
    while piece := file.read(_PIECE):
        if hides.stands_in((end + piece).decode("latin-1")):
            raise ResourceExhausted(
                f"The file has a named secret in it, and over {_MOST_DECODED:,} bytes, too many to remove it.",
                hint="Download a part of it, or ask a person for it.",
            )
        end = piece[-_OVERLAP:]


class FileSearch:
    """The search through one file, and how many bytes it may still unpack and decode."""

    def __init__(self, hides: Concealment) -> None:
        self._hides = hides
        self._left, self._decodes = _MOST_UNPACKED, _MOST_DECODED

    def without_secrets(self, data: bytes, mime_type: str, nested: int = 0) -> bytes:
        """Return a file's bytes without secrets. Pictures stay as they are, and so does what has no secret.

        Raises ResourceExhausted for a packed file that is too large to search."""
        if mime_type.startswith(_PICTURES) and b"\0" in data:
            return data
        if nested < _MOST_NESTED:
            try:
                if data.startswith(_GZIP):
                    return self._compressed(data, nested + 1)
                if zipfile.is_zipfile(io.BytesIO(data)):
                    return self._archive(data, nested + 1)
            except (OSError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
                pass  # broken or encrypted, and so unreadable for everybody
        self._decodes -= len(data)
        if self._decodes < 0:
            _check_plain(io.BytesIO(data), self._hides)
            return data
        charset = "utf-16" if data.startswith(_UTF_16) else "utf-8"
        try:
            text = data.decode(charset)
        except UnicodeDecodeError:
            charset, text = "latin-1", data.decode("latin-1")
        clean = self._hides.text(text)
        return data if clean is text else clean.encode(charset)

    def _compressed(self, data: bytes, nested: int) -> bytes:
        with gzip.open(io.BytesIO(data)) as file:
            plain = file.read(self._left + 1)
        self._unpack(len(plain))
        clean = self.without_secrets(plain, "", nested)
        return data if clean is plain else gzip.compress(clean)

    def _archive(self, data: bytes, nested: int) -> bytes:
        searched, changed = io.BytesIO(), False
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(searched, "w", zipfile.ZIP_DEFLATED) as new:
            self._unpack(sum(entry.file_size for entry in old.infolist()))
            for entry in old.infolist():
                name, found = self._hides.text(entry.filename), old.read(entry)
                clean = self.without_secrets(found, mimetypes.guess_type(entry.filename)[0] or "", nested)
                changed |= name is not entry.filename or clean is not found
                new.writestr(name, clean)
        return searched.getvalue() if changed else data

    def _unpack(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ResourceExhausted(
                "The archive is too large to be searched for secrets, and was dropped.",
                hint="Record less: a shorter time, without pictures or bodies.",
            )
