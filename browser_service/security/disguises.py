"""Undoes the usual disguises of a text: URL and HTML encoding, other bases, character codes, reversal and rot13."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import unquote_plus

_LAYERS: Final = 3
_MOST_FORMS: Final = 80
_MOST_RUNS: Final = 40
_SEPARATORS: Final = re.compile(r"[\W_]+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{4,}={0,2}")
_BASE64_PART: Final = re.compile(r"[A-Za-z0-9]{4,}={0,2}")
_BASE32: Final = re.compile(r"[A-Za-z2-7]{8,}={0,6}")
_HEX: Final = re.compile(r"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[\s:,;_.-]*){3,}")
_HEX_MARKS: Final = re.compile(r"\\x|0x|[^0-9a-fA-F]")
_CODES: Final = re.compile(r"(?:&?#?\d{2,3}[\s,;.+_-]+){2,}&?#?\d{2,3}")
_ESCAPES: Final = re.compile(r"\\u\{?([0-9a-fA-F]{2,6})\}?")
_READABLE: Final = 0.9
_LAST_CODE: Final = 0x10FFFF


def squeezed(text: str) -> str:
    """Return only the letters and digits of a text, case-folded and in one Unicode form."""
    whole = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _SEPARATORS.sub("", whole.casefold())


def undisguised(texts: Iterable[str]) -> set[str]:
    """Return, squeezed, the texts and everything that they may be under up to three disguises at once."""
    layer = dict.fromkeys(texts)
    found = dict(layer)
    for _ in range(_LAYERS):
        layer = {form: None for text in layer for form in _undone(text) if form not in found}
        found |= dict(list(layer.items())[: max(0, _MOST_FORMS - len(found))])
    return {plain for text in found if (plain := squeezed(text))}


def _undone(text: str) -> Iterator[str]:
    """Yield what a text may mean under each known disguise."""
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    if "%" in text or "+" in text:
        yield unquote_plus(text)
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text:
        yield _ESCAPES.sub(_unescaped, text)
    for pattern, decode in _BASES:
        for run in [found[0] for found in pattern.finditer(text)][:_MOST_RUNS]:
            yield from _decoded(run, decode)


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code <= _LAST_CODE else found[0]


def _decoded(run: str, decode: Callable[[str], bytes]) -> Iterator[str]:
    """Yield the text that a run of characters encodes in a base, if it is readable."""
    try:
        data = decode(run)
    except (ValueError, binascii.Error):
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    readable = sum(map(str.isprintable, text))
    if text and readable >= len(text) * _READABLE:
        yield text


def _of_base64(run: str) -> bytes:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4 % 3), validate=True)


def _of_base32(run: str) -> bytes:
    bare = run.rstrip("=").upper()
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def _of_hex(run: str) -> bytes:
    digits = _HEX_MARKS.sub("", run)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _of_codes(run: str) -> bytes:
    return bytes(int(code) for code in re.findall(r"\d+", run))


_BASES: Final = (
    (_BASE64, _of_base64),
    (_BASE64_PART, _of_base64),
    (_BASE32, _of_base32),
    (_HEX, _of_hex),
    (_CODES, _of_codes),
)
