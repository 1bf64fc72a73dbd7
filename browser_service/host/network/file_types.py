"""Tells a file's type by its first bytes, and by its name where those say nothing."""

import mimetypes
from typing import Final

HEAD: Final = 1_024
"""How many bytes are looked at."""
UNKNOWN: Final = "application/octet-stream"
_HTML: Final = "text/html"
_BY_BEGINNING: Final = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b": "application/gzip",
}
_KNOWN: Final = frozenset(_BY_BEGINNING.values())
_WRAPPERS: Final = frozenset({"application/zip", "application/gzip"})
"""What other types are made of: documents of offices, books, programs."""


def file_type(name: str, head: bytes) -> str:
    """Return the type of the file that begins with `head`."""
    guessed, wrapped = mimetypes.guess_type(name)
    named = "application/gzip" if wrapped == "gzip" else guessed or UNKNOWN
    found = next((each for begins, each in _BY_BEGINNING.items() if head.startswith(begins)), "")
    if found in _WRAPPERS and named not in {*_KNOWN, UNKNOWN} and not named.startswith("text/"):
        return named
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return named if "html" in named else _HTML
    if found or named not in _KNOWN:
        return found or named
    return UNKNOWN if b"\0" in head else "text/plain"
