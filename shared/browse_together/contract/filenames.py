"""Makes file names that people see: one plain name, valid on any system, that leads to no other folder."""

import mimetypes
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field

_MOST_BYTES: Final = 150
_MOST_SUFFIX: Final = 16
_PUNCTUATION: Final = frozenset('<>:"/\\|?*')
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})
"""Names that Windows treats as devices, with any suffix."""
_SUFFIXES: Final = {"image/jpeg": ".jpg", "image/webp": ".webp", "text/plain": ".txt", "text/csv": ".csv"}
"""Corrections to the system's own table, which has other suffixes for these types, or none."""


def safe_name(name: str) -> str:
    """Remove unprintable characters and those that some system reserves. The result may be empty."""
    text = unicodedata.normalize("NFC", name)
    plain = "".join(character for character in text if character.isprintable() and character not in _PUNCTUATION)
    stem, suffix = split_suffix(plain.strip(" ."))
    stem = stem[:_MOST_BYTES]
    while len(f"{stem}{suffix}".encode()) > _MOST_BYTES:
        stem = stem[:-1]
    return f"_{stem}{suffix}" if stem.partition(".")[0].strip().lower() in _DEVICES else f"{stem.strip()}{suffix}"


def split_suffix(name: str) -> tuple[str, str]:
    """Split a name where a number can be added: `a.tar.gz` into `a.tar` and `.gz`."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, f".{suffix}") if stem and dot and len(suffix) < _MOST_SUFFIX else (name, "")


def with_suffix(name: str, mime_type: str) -> str:
    """Add the MIME type's suffix to a name without one."""
    kind = mime_type.partition(";")[0].strip().lower()
    return name if split_suffix(name)[1] else f"{name}{_SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ''}"


def _checked(name: str) -> str:
    """Return a caller's own name unchanged, because people look for it. Raises ValueError if it is unsafe."""
    if any(part != safe_name(part) or not part for part in name.split("/")):
        raise ValueError(f'{name!r} is not the name of a file in the output directory; give a name, such as "page.pdf"')
    return name


FileName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_checked)]
"""The name of a file in the output directory, or in a folder there."""
