"""Makes names of files that people see: one plain name on any system, which leads to no other place."""

import mimetypes
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field

_MOST_BYTES: Final = 150
_MOST_SUFFIX: Final = 16
_PUNCTUATION: Final = frozenset('<>:"/\\|?*')
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})
"""Names that Windows takes for devices, with any suffix."""
_SUFFIXES: Final = {"image/jpeg": ".jpg", "image/webp": ".webp", "text/plain": ".txt", "text/csv": ".csv"}
"""Corrects the system's own table, which has another suffix for these types, or none."""


def safe_name(name: str) -> str:
    """Return the name without the characters that cannot be printed or that some system reserves. It may be empty."""
    text = unicodedata.normalize("NFC", name)
    plain = "".join(character for character in text if character.isprintable() and character not in _PUNCTUATION)
    stem, suffix = split_suffix(plain.strip(" ."))
    stem = stem[:_MOST_BYTES]
    while len(f"{stem}{suffix}".encode()) > _MOST_BYTES:
        stem = stem[:-1]
    return f"_{stem}{suffix}" if stem.partition(".")[0].strip().lower() in _DEVICES else f"{stem.strip()}{suffix}"


def split_suffix(name: str) -> tuple[str, str]:
    """Split a name where a number can go: `a.tar.gz` into `a.tar` and `.gz`."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, f".{suffix}") if stem and dot and len(suffix) < _MOST_SUFFIX else (name, "")


def with_suffix(name: str, mime_type: str) -> str:
    """Return the name with the suffix of its MIME type, if it has none."""
    kind = mime_type.partition(";")[0].strip().lower()
    return name if split_suffix(name)[1] else f"{name}{_SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ''}"


def _checked(name: str) -> str:
    """Return a caller's own name as it is, because people look for the file under it. Raises ValueError if it is not
    safe."""
    if any(part != safe_name(part) or not part for part in name.split("/")):
        raise ValueError(f'{name!r} is not the name of a file in BROWSE_OUTPUT_DIR; give a name, such as "page.pdf"')
    return name


FileName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_checked)]
"""The name of a file in the output directory, or in a folder there."""
