"""Hides secrets in files: in texts of each charset, and in what is packed in them."""

import gzip
import io
import mimetypes
import zipfile
from typing import Final

from browser_service.security.concealment import Concealment
from shared.errors import ResourceExhausted

_MOST_UNPACKED: Final = 500_000_000
_MOST_NESTED: Final = 3
_PICTURES: Final = ("image/", "video/", "audio/")
_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class FileSearch:
    """The search through one file, and how many bytes it may still unpack."""

    def __init__(self, hides: Concealment) -> None:
        self._hides = hides
        self._left = _MOST_UNPACKED

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
